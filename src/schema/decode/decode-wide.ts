/** Decodes objects with many fields by a table: V8 would need long to compile code for thousands of fields. */
import { put, type Tree } from '../../base/json/tree.ts';

/** State of one call that decodes an object. An error ends the call. */
export interface DecodeRun {
  /** True to reject lists and maps beyond their maximum. */
  readonly isLimited: boolean;
  /** Characters that defaults may still add. */
  left: number;
  /** Number of recursive shapes around the value. */
  depth: number;
  /** True when a field was dropped. Another walk finds which one, as that is rare. */
  dropped: boolean;
}

/** Decodes one field of an object. */
export interface WideField {
  /** Returns undefined for a value that counts as absent. Never called with null. */
  readonly decode: (value: unknown, run: DecodeRun) => unknown;
  readonly nullable: boolean;
  /** True when a value such as the empty string counts as absent. */
  readonly dropsEmpty: boolean;
  /** Makes the default. */
  readonly preset: ((parent: unknown, run: DecodeRun) => unknown) | undefined;
  /** Computes the value, whatever was sent. */
  readonly derive: ((parent: never) => unknown) | undefined;
}

interface WideOptions {
  readonly fields: ReadonlyMap<string, WideField>;
  /** Decodes the values of unknown fields; absent: they are dropped. */
  readonly unknown: ((value: unknown) => unknown) | undefined;
  /** Adds to an error where it occurred. */
  readonly within: (error: unknown, field: string) => unknown;
}

/** Returns a function that decodes an object. */
export function wideDecode({ fields, unknown, within }: WideOptions) {
  const filled = [...fields].filter(([, { preset, derive }]) => preset || derive);
  return (input: Tree, run: DecodeRun, from: Tree | undefined): Tree => {
    const out: Tree = {};
    let at = '';
    try {
      for (const key in input) {
        const value = input[key];
        const field = fields.get(key);
        if (value === null || value === undefined) {
          const isKept = field ? field.nullable : unknown !== undefined;
          if (value === null && isKept) put(out, key, null);
          else if (!field) run.dropped = true;
          continue;
        }
        at = key;
        if (from !== undefined && value === from[key]) put(out, key, value);
        else if (field) set(out, key, field.decode(value, run), field.dropsEmpty);
        else if (unknown) put(out, key, unknown(value));
        else run.dropped = true;
      }
      for (const [key, { preset, derive }] of filled) {
        at = key;
        if (derive) {
          const value = derive(out as never);
          if (value === undefined) delete out[key];
          else put(out, key, value);
        } else if (!Object.hasOwn(out, key)) set(out, key, preset?.(out, run), false);
      }
    } catch (error) {
      throw within(error, at);
    }
    return out;
  };
}

function set(out: Tree, key: string, value: unknown, dropsEmpty: boolean): void {
  if (value !== undefined && (value || !dropsEmpty)) put(out, key, value);
}

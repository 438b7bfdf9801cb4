/**
 * From what a client sent to what the rest of the program works with: one walk that checks types, drops fields the
 * description does not know, drops nulls, brings values into their canonical form and fills in defaults. Each
 * description is compiled once, into closures.
 *
 * What Kubernetes does not tell apart, a decoded tree does not either: an optional list or map that is empty is absent,
 * and so is the empty string where a field has words to choose from or a default.
 */
import { isTree, put } from '../base/tree.ts';
import { DecodeError, jsonWord, Mismatch } from './decode-error.ts';
import { decodeScalar, goType, zeroOf } from './scalars.ts';
import type { ListSchema, MapSchema, ObjectSchema, Schema } from './schema.ts';
import { unknownFields } from './unknown-fields.ts';

export { DecodeError } from './decode-error.ts';

export interface DecodeOptions {
  /** Told of fields that are dropped because no description knows them, as `spec.containers[0].imag`. */
  readonly unknown?: (path: string) => void;
  /**
   * A decoded object that the input was made from: fields of the input that are still its own very values are taken as
   * they are, and so shared.
   */
  readonly from?: object;
}

/**
 * Returns a fresh tree; only what stands under an `any` node, or comes from `from`, is shared with the input. Throws a DecodeError when a value
 * has the wrong type.
 */
export function decode<T>(schema: ObjectSchema<T>, input: unknown, options?: DecodeOptions): T {
  try {
    const drops = options?.unknown && { any: false };
    const decoded = objectDecoder(schema)(input, drops, options?.from) as T;
    if (drops?.any) for (const path of unknownFields(schema, input)) options?.unknown?.(path);
    return decoded;
  } catch (error) {
    throw error instanceof Mismatch ? error.toDecodeError() : error;
  }
}

/** Whether a field was dropped, kept only when somebody wants to hear of it. Where, another walk says: it is rare. */
interface Drops {
  any: boolean;
}

/** Never called with null; answers undefined for a value that counts as absent. */
type Decoder = (input: any, drops?: Drops, from?: any) => unknown;

/** How deep a shape may contain itself, and how deep free-form data may nest. */
const MAX_DEPTH = 1000;
/** A short body can hold millions of empty items, and each becomes an object with defaults. None of them could be stored. */
const MAX_ITEMS = 100_000;

function decoderOf(schema: Schema): Decoder {
  switch (schema.type) {
    case 'object':
      return objectDecoder(schema);
    case 'list':
      return listDecoder(schema, false);
    case 'map':
      return mapDecoder(schema, false);
    case 'any':
      return decodeAny;
    case 'lazy':
      return lazyDecoder(schema.resolve);
    default:
      return decodeScalar(schema);
  }
}

/** By the set of fields: the same shape used in many places is compiled once. */
const objectDecoders = new WeakMap<object, Decoder>();

function objectDecoder(schema: ObjectSchema): Decoder {
  let decoder = objectDecoders.get(schema.fields);
  if (!decoder) {
    decoder = compileObject(schema);
    objectDecoders.set(schema.fields, decoder);
  }
  return decoder;
}

function compileObject({ name, fields }: ObjectSchema): Decoder {
  const decoders: Record<string, Decoder> = Object.create(null);
  const fillers: Filler[] = [];
  for (const [field, schema] of Object.entries(fields)) {
    const filler = fillerOf(field, schema);
    if (filler) fillers.push(filler);
    decoders[field] = fieldDecoder(schema);
  }
  return (input, drops, from) => {
    if (!isTree(input)) throw new Mismatch(jsonWord(input), `v1.${name}`);
    const out: Record<string, unknown> = {};
    let at = '';
    try {
      for (const key in input) {
        const decoder = decoders[key];
        if (decoder === undefined) {
          if (drops) drops.any = true;
          continue;
        }
        const value = input[key];
        if (value === null || value === undefined) continue;
        if (from !== undefined && value === from[key]) {
          out[key] = value;
          continue;
        }
        at = key;
        const decoded = decoder(value, drops);
        if (decoded !== undefined) out[key] = decoded;
      }
      for (let i = 0; i < fillers.length; i++) {
        const { field, fill, always } = fillers[i]!;
        if (!always && out[field] !== undefined) continue;
        at = field;
        const filling = fill(out);
        if (filling !== undefined) out[field] = filling;
        else if (always) delete out[field];
      }
    } catch (error) {
      throw error instanceof Mismatch ? error.through(name, at) : error;
    }
    return out;
  };
}

/** A field's decoder: the node's own, and what counts as absent there. */
function fieldDecoder(schema: Schema): Decoder {
  const optional = !schema.zero;
  switch (schema.type) {
    case 'list':
      return listDecoder(schema, optional);
    case 'map':
      return mapDecoder(schema, optional);
    case 'string': {
      const decoder = decodeScalar(schema);
      // Where the default is empty itself, the field stays where it stands.
      const hasWords = schema.enum || (schema.default !== undefined && schema.default !== '');
      const dropsEmpty = schema.omitZero || (!schema.format && hasWords);
      return dropsEmpty ? (input) => decoder(input) || undefined : decoder;
    }
    default: {
      const decoder = decoderOf(schema);
      return schema.omitZero ? (input) => decoder(input) || undefined : decoder;
    }
  }
}

/** What an absent field becomes; or, always, what a field is. */
interface Filler {
  readonly field: string;
  readonly fill: (parent: unknown) => unknown;
  readonly always?: boolean;
}

function fillerOf(field: string, schema: Schema): Filler | undefined {
  const { default: preset, zero, derive } = schema;
  if (derive) return { field, fill: derive, always: true };
  if (preset !== undefined) return { field, fill: presetFiller(preset, schema) };
  return zero ? { field, fill: zeroFiller(schema) } : undefined;
}

function presetFiller(preset: unknown, schema: Schema): (parent: unknown) => unknown {
  if (typeof preset === 'function') {
    let decoder: Decoder | undefined;
    return (parent) => {
      const value = preset(parent);
      if (typeof value !== 'object' || value === null) return value ?? undefined;
      decoder ??= decoderOf(schema);
      return decoder(value);
    };
  }
  if (typeof preset !== 'object') return () => preset;
  return again(schema, preset);
}

function zeroFiller(schema: Schema): (parent: unknown) => unknown {
  switch (schema.type) {
    case 'object':
    case 'map':
      return again(schema, {});
    case 'list':
      return () => [];
    case 'lazy':
      return again(schema, {});
    default: {
      const zero = zeroOf(schema);
      return () => zero;
    }
  }
}

/** A fresh copy of a constant each time, with the defaults inside it. */
function again(schema: Schema, constant: unknown): () => unknown {
  let decoder: Decoder | undefined;
  return () => {
    decoder ??= decoderOf(schema);
    return decoder(constant);
  };
}

/** Where it is optional, an empty list is none. */
function listDecoder(schema: ListSchema, optional: boolean): Decoder {
  const decodeItem = decoderOf(schema.items);
  const zero = zeroItem(schema.items, decodeItem);
  return (input, drops) => {
    if (!Array.isArray(input)) throw new Mismatch(jsonWord(input), goType(schema));
    if (optional && input.length === 0) return undefined;
    if (input.length > MAX_ITEMS) throw new DecodeError(`json: array of ${input.length} items is too long`);
    const out = new Array(input.length);
    for (let i = 0; i < input.length; i++) {
      const item = input[i];
      out[i] = item === null || item === undefined ? zero() : decodeItem(item, drops);
    }
    return out;
  };
}

function mapDecoder(schema: MapSchema, optional: boolean): Decoder {
  const decodeValue = decoderOf(schema.values);
  const zero = zeroItem(schema.values, decodeValue);
  return (input, drops) => {
    if (!isTree(input)) throw new Mismatch(jsonWord(input), goType(schema));
    const out: Record<string, unknown> = {};
    let isEmpty = optional;
    for (const key in input) {
      isEmpty = false;
      const value = input[key];
      const decoded = value === null || value === undefined ? zero() : decodeValue(value, drops);
      put(out, key, decoded);
    }
    return isEmpty ? undefined : out;
  };
}

/** What a null in a list or a map stands for. */
function zeroItem(schema: Schema, decoder: Decoder): () => unknown {
  switch (schema.type) {
    case 'object':
    case 'map':
    case 'lazy':
      return () => decoder({});
    case 'list':
      return () => [];
    case 'any':
      return () => null;
    default: {
      const zero = zeroOf(schema) ?? '';
      return () => zero;
    }
  }
}

let depth = 0;

function lazyDecoder(resolve: () => Schema): Decoder {
  let decoder: Decoder | undefined;
  return (input, drops) => {
    decoder ??= decoderOf(resolve());
    if (depth >= MAX_DEPTH) throw new DecodeError('json: exceeded max depth');
    depth++;
    try {
      return decoder(input, drops);
    } finally {
      depth--;
    }
  };
}

/** Free-form data is kept as it is; that it is not too deep is checked here, so that later walks may recurse. */
function decodeAny(input: unknown): unknown {
  if (typeof input !== 'object' || input === null) return input;
  let level: object[] = [input];
  for (let deep = 0; level.length > 0; deep++) {
    if (deep >= MAX_DEPTH) throw new DecodeError('json: exceeded max depth');
    const next: object[] = [];
    for (const each of level) {
      for (const child of Object.values(each)) if (typeof child === 'object' && child !== null) next.push(child);
    }
    level = next;
  }
  return input;
}

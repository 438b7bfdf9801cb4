/** Limits the length of lists and maps. Decoding checks it before anything else walks them. */
import { isTree } from '../../base/json/tree.ts';
import { type FieldError, joinPath, tooMany } from '../field-error.ts';
import type { ListSchema, MapSchema, Schema } from '../schema.ts';
import { DecodeError } from './decode-error.ts';

/** The maximum of a list whose schema names none. */
export const MAX_LIST_ITEMS = 10_000;
/** The maximum of a map whose schema names none. */
export const MAX_MAP_ENTRIES = 10_000;

export function maxItemsOf(schema: ListSchema | MapSchema): number {
  return schema.maxItems ?? (schema.type === 'list' ? MAX_LIST_ITEMS : MAX_MAP_ENTRIES);
}

/** Lists and maps of the input are too long. */
export class LimitError extends DecodeError {
  constructor(readonly errors: readonly FieldError[]) {
    super(errors.map(({ field, message }) => `${field}: ${message}`).join(', '));
  }
}

/** A list or map that is longer than its maximum. */
interface Excess {
  /** Path such as `spec.containers[0].env`. */
  readonly path: string;
  /** Field: the path without indexes and keys. */
  readonly field: string;
  readonly count: number;
  readonly limit: number;
}

/** Further ones are not reported. */
const MAX_REPORTED = 100;

/** The lists and maps of a tree that are longer than their maximum, in the order of the tree. */
export function excessOf(schema: Schema, tree: unknown): Excess[] {
  const found: Excess[] = [];
  for (const each of walk(schema, tree, '', '')) if (found.push(each) >= MAX_REPORTED) break;
  return found;
}

export const errorsOf = (excess: readonly Excess[]): FieldError[] =>
  excess.map(({ path, count, limit }) => tooMany(path, count, limit));

/** Reports whether a list or map is longer than the longest one that `before` has in the same field. */
export function exceedsMore(excess: readonly Excess[], before: readonly Excess[]): boolean {
  const longest = new Map<string, number>();
  for (const { field, count } of before) longest.set(field, Math.max(count, longest.get(field) ?? 0));
  return excess.some(({ field, count }) => count > (longest.get(field) ?? 0));
}

/** Walks a value, without looking into lists and maps that are too long. */
function* walk(schema: Schema, value: unknown, path: string, field: string): Generator<Excess> {
  if (typeof value !== 'object' || value === null) return;
  switch (schema.type) {
    case 'object':
      if (!isTree(value)) return;
      for (const key in value) {
        const child = Object.hasOwn(schema.fields, key) ? schema.fields[key] : undefined;
        if (child) yield* walk(child, value[key], joinPath(path, key), joinPath(field, key));
      }
      return;
    case 'list':
      if (!Array.isArray(value)) return;
      if (value.length > maxItemsOf(schema)) yield { path, field, count: value.length, limit: maxItemsOf(schema) };
      else for (let i = 0; i < value.length; i++) yield* walk(schema.items, value[i], `${path}[${i}]`, field);
      return;
    case 'map': {
      if (!isTree(value)) return;
      const keys = Object.keys(value);
      if (keys.length > maxItemsOf(schema)) yield { path, field, count: keys.length, limit: maxItemsOf(schema) };
      else for (const key of keys) yield* walk(schema.values, value[key], `${path}[${key}]`, field);
      return;
    }
    case 'lazy':
      yield* walk(schema.resolve(), value, path, field);
  }
}

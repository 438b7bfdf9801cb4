import { isTree } from '../../base/json/tree.ts';
import type { ObjectSchema } from '../schema.ts';
import { type AnySchema, containerOf, schemaAt } from './container.ts';
import type { FieldSet } from './field-set.ts';

/**
 * Reports whether an object has more fields, items and keys that can be owned than a limit. Stops there: unlike
 * operations on sets of fields, it takes a few milliseconds for the largest object.
 */
export function hasMoreFields(schema: ObjectSchema, tree: unknown, limit: number): boolean {
  return afterValue(schema, tree, limit) < 0;
}

/** Returns the rest of a limit after a value; negative when it was exceeded. */
function afterValue(schema: AnySchema, value: unknown, limit: number): number {
  let left = limit;
  if (typeof value !== 'object' || value === null) return left;
  const container = containerOf(schema, value);
  if (container.type === 'list' && Array.isArray(value)) {
    for (let i = 0; i < value.length && left >= 0; i++) left = afterValue(container.schema.items, value[i], left - 1);
  } else if (container.type === 'map' && isTree(value)) {
    for (const key in value) {
      left = afterValue(schemaAt(container, key) ?? schema, value[key], left - 1);
      if (left < 0) break;
    }
  }
  return left;
}

/** Returns the rest of a limit after the elements of a set, or a client's input; negative when exceeded. */
export function afterElements(set: FieldSet, limit: number): number {
  let left = limit;
  for (const element in set) {
    const node = set[element];
    left--;
    if (left >= 0 && isTree(node)) left = afterElements(node, left);
    if (left < 0) break;
  }
  return left;
}

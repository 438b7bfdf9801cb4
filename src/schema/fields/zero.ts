import { memoized } from '../../base/collections/memoized.ts';
import { deepFreeze, type Tree } from '../../base/json/tree.ts';
import type { ObjectSchema, Schema } from '../schema.ts';

/**
 * Returns an object in which nothing is set, as Go programs write it: empty structs that are not pointers, and null for
 * fields that are written even when absent. A new object is compared with it, so that the parts it has are not owned by
 * themselves.
 */
export const zeroObject = memoized((schema: ObjectSchema): Tree => deepFreeze(zeroFields(schema)));

function zeroFields({ fields }: ObjectSchema): Tree {
  const zero: Tree = {};
  for (const [name, field] of Object.entries(fields)) {
    const value = zeroValue(field);
    if (value !== undefined) zero[name] = value;
  }
  return zero;
}

/** Returns the zero value; undefined for a field that is left out. */
function zeroValue(field: Schema): unknown {
  if (field.pointer) return undefined;
  switch (field.type) {
    case 'object':
      if (field.zero || isEmptyObject(field.default)) return zeroFields(field);
      return field.required ? null : undefined;
    case 'list':
    case 'map':
      return field.zero || field.required ? null : undefined;
    default:
      return undefined;
  }
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

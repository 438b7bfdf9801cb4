/** Converts results of expressions to JSON. */

import { put, type Tree } from '../../../../base/json/tree.ts';
import { Failure } from '../../../../cel/values/failure.ts';
import { isMap, mapGet, mapKeys } from '../../../../cel/values/map.ts';
import { typeNameOf } from '../../../../cel/values/type-of.ts';
import { Double, ObjectValue, Optional, Uint, type Value } from '../../../../cel/values/value.ts';

/** Converts a value. Throws a Failure when it has no JSON form. */
export function jsonOf(value: Value): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number')
    return value;
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(jsonOf);
  if (value instanceof Double || value instanceof Uint) return Number(value.value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof ObjectValue) return treeOf(Object.keys(value.fields), (key) => value.fields[key]!);
  if (value instanceof Optional && value.value !== undefined) return jsonOf(value.value);
  if (isMap(value)) {
    return treeOf(mapKeys(value).map(stringKey), (key) => mapGet(value, key)!);
  }
  throw new Failure(`${typeNameOf(value)} cannot be converted to JSON`);
}

function stringKey(key: Value): string {
  if (typeof key === 'string') return key;
  throw new Failure(`map key ${String(key)} is of type ${typeNameOf(key)}, not string`);
}

function treeOf(keys: readonly string[], read: (key: string) => Value): Tree {
  const tree: Tree = {};
  for (const key of keys) put(tree, key, jsonOf(read(key)));
  return tree;
}

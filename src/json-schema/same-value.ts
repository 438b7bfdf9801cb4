import { memoized } from '../base/collections/memoized.ts';
import { deepEqual, isTree, type Tree } from '../base/json/tree.ts';
import { itemsOf, type JsonSchema, propertyOf, valuesOf } from './json-schema.ts';

/**
 * Reports whether an update leaves a value unchanged. Items of a list with keys are found by their keys, as in
 * Kubernetes: their order does not matter.
 */
export function sameValue(schema: JsonSchema, value: unknown, old: unknown): boolean {
  if (value === old) return true;
  if (!hasKeyedLists(schema)) return deepEqual(value, old);
  if (Array.isArray(value) && Array.isArray(old)) return sameList(schema, value, old);
  if (!isTree(value) || !isTree(old)) return deepEqual(value, old);
  const names = Object.keys(value);
  if (names.length !== Object.keys(old).length) return false;
  return names.every((name) => {
    if (!Object.hasOwn(old, name)) return false;
    const inner = propertyOf(schema, name) ?? valuesOf(schema) ?? {};
    return sameValue(inner, value[name], old[name]);
  });
}

function sameList(schema: JsonSchema, list: readonly unknown[], old: readonly unknown[]): boolean {
  if (list.length !== old.length) return false;
  const items = itemsOf(schema) ?? {};
  const { 'x-kubernetes-list-type': type, 'x-kubernetes-list-map-keys': keys = [] } = schema;
  if (type !== 'map') return list.every((item, i) => sameValue(items, item, old[i]));
  const before = new Map(old.map((item) => [keysText(item, keys), item]));
  return list.every((item) => {
    const was = before.get(keysText(item, keys));
    return was !== undefined && sameValue(items, item, was);
  });
}

const hasKeyedLists = memoized((schema: JsonSchema): boolean => {
  const { 'x-kubernetes-list-type': type, properties = {}, items, additionalProperties } = schema;
  const inner = [...Object.values(properties), items, additionalProperties];
  return type === 'map' || inner.some((each) => isTree(each) && hasKeyedLists(each as JsonSchema));
});

/** Returns the keys that identify an item of a list with keys. */
export function keysText(item: unknown, keys: readonly string[]): string {
  return JSON.stringify(isTree(item) ? keys.map((key) => (item as Tree)[key] ?? null) : null);
}

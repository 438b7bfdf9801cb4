/** Classifies a value for the purposes of fields: a leaf, a map, or a list of items that can be told apart. */
import { memoized } from '../../base/collections/memoized.ts';
import { isTree, type Tree } from '../../base/json/tree.ts';
import { zeroOf } from '../decode/scalars.ts';
import type { Fields, ListSchema, Schema } from '../schema.ts';
import { keyElement, valueElement } from './element.ts';

export type Container =
  | { readonly type: 'leaf' }
  | { readonly type: 'map'; readonly fields: Fields | undefined; readonly others: Schema | typeof DEDUCED | undefined }
  | { readonly type: 'list'; readonly schema: ListSchema };

/** Stands for a missing schema: maps are walked, everything else is a leaf. */
export const DEDUCED = Symbol('deduced');

export type AnySchema = Schema | typeof DEDUCED;

const LEAF_CONTAINER: Container = { type: 'leaf' };
const DEDUCED_MAP: Container = { type: 'map', fields: undefined, others: DEDUCED };

/** `values` are those that are looked at; they matter only where no schema describes them. */
export function containerOf(schema: AnySchema, ...values: readonly unknown[]): Container {
  if (schema === DEDUCED || isFreeForm(schema)) {
    const isMap = values.every((value) => value === undefined || value === null || isTree(value));
    return isMap && values.some(isTree) ? DEDUCED_MAP : LEAF_CONTAINER;
  }
  return described(schema);
}

/** Reports whether a schema says nothing about the values, which may be of any type. */
export function isFreeForm(schema: Schema): boolean {
  if (schema.type !== 'object' || !schema.lenient || !schema.preserveUnknown || schema.atomic) return false;
  for (const _ in schema.fields) return false;
  return true;
}

const described = memoized((schema: Schema): Container => {
  switch (schema.type) {
    case 'object':
      if (schema.atomic) return LEAF_CONTAINER;
      return { type: 'map', fields: schema.fields, others: schema.preserveUnknown ? DEDUCED : undefined };
    case 'map':
      return schema.atomic ? LEAF_CONTAINER : { type: 'map', fields: undefined, others: schema.values };
    case 'list':
      return schema.list === 'atomic' ? LEAF_CONTAINER : { type: 'list', schema };
    case 'lazy':
      return described(schema.resolve());
    default:
      return LEAF_CONTAINER;
  }
});

type MapContainer = Extract<Container, { type: 'map' }>;

export function isDeclared({ fields }: MapContainer, key: string): boolean {
  return fields !== undefined && Object.hasOwn(fields, key);
}

/** Returns the schema of a field; undefined if none is declared and none may be. */
export function schemaAt(container: MapContainer, key: string): AnySchema | undefined {
  return isDeclared(container, key) ? container.fields![key] : container.others;
}

/** The element of an item; undefined when it cannot be told apart from others. */
export function itemElement(schema: ListSchema, item: unknown): string | undefined {
  if (schema.list === 'set') {
    return item === null || item === undefined || typeof item === 'object' ? undefined : valueElement(item);
  }
  if (!isTree(item)) return undefined;
  const keys: Tree = {};
  let any = false;
  for (const name of sortedKeys(schema)) {
    const value = item[name] ?? keyDefault(schema, name);
    if (value === undefined) continue;
    keys[name] = value;
    any = true;
  }
  return any ? keyElement(keys) : undefined;
}

const sortedKeys = memoized((schema: ListSchema): readonly string[] => [...(schema.keys ?? [])].sort());

/** The value that counts as the key of an item that leaves it out. */
function keyDefault({ items }: ListSchema, name: string): unknown {
  const shape = items.type === 'lazy' ? items.resolve() : items;
  const key = shape.type === 'object' ? shape.fields[name] : undefined;
  if (!key) return undefined;
  if (key.default !== undefined && typeof key.default !== 'function') return key.default ?? undefined;
  return key.zero || key.required ? zeroOf(key) : undefined;
}

/** Checks consequences of a schema's structure: items of sets and maps are distinct, embedded objects are objects. */
import { memoized } from '../base/collections/memoized.ts';
import { isTree, type Tree } from '../base/json/tree.ts';
import { duplicate, type FieldError, invalid, joinPath, required } from '../schema/field-error.ts';
import { dnsSubdomain } from '../schema/names.ts';
import { itemsOf, type JsonSchema, propertyOf, valuesOf } from './json-schema.ts';

/** Items of sets and maps that occur more than once. */
export function listErrors(schema: JsonSchema, value: unknown, path = ''): FieldError[] {
  const found: FieldError[] = [];
  walk(schema, value, path, (inner, each, at) => {
    const { 'x-kubernetes-list-type': type, 'x-kubernetes-list-map-keys': keys = [] } = inner;
    if (!Array.isArray(each)) return;
    if (type === 'set') distinct(each, at, (item) => item, found);
    if (type === 'map') distinct(each, at, (item) => keysOf(item, keys, itemsOf(inner)), found);
  });
  return found;
}

function distinct(
  items: readonly unknown[],
  path: string,
  identity: (item: unknown) => unknown,
  found: FieldError[],
): void {
  const seen = new Set<string>();
  items.forEach((item, i) => {
    const value = identity(item);
    const text = JSON.stringify(sorted(value)) ?? '';
    if (seen.has(text)) found.push(duplicate(`${path}[${i}]`, value));
    seen.add(text);
  });
}

/** The keys of an item, as far as it has them. */
function keysOf(item: unknown, keys: readonly string[], items: JsonSchema | undefined): unknown {
  if (!isTree(item)) return item;
  const own: Tree = {};
  for (const key of keys) {
    const value = item[key] ?? (items && propertyOf(items, key)?.default);
    if (value !== undefined) own[key] = value;
  }
  return own;
}

/** Returns the same value with the keys of objects in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isTree(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}

/** Objects inside an object that have no kind or version, or a name that no object can have. */
export function embeddedErrors(schema: JsonSchema, value: unknown, path = ''): FieldError[] {
  const found: FieldError[] = [];
  walk(schema, value, path, (inner, each, at) => {
    if (!inner['x-kubernetes-embedded-resource'] || !isTree(each)) return;
    for (const name of ['apiVersion', 'kind']) {
      if (typeof each[name] !== 'string' || each[name] === '')
        found.push(required(joinPath(at, name), 'must not be empty'));
    }
    const name = isTree(each.metadata) ? each.metadata.name : undefined;
    if (typeof name !== 'string' || name === '') return;
    for (const problem of dnsSubdomain(name)) found.push(invalid(joinPath(at, 'metadata.name'), name, problem));
  });
  return found;
}

type Visit = (schema: JsonSchema, value: unknown, path: string) => void;

function walk(schema: JsonSchema, value: unknown, path: string, visit: Visit): void {
  if (typeof value !== 'object' || value === null || !hasStructure(schema)) return;
  visit(schema, value, path);
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    if (items) for (let i = 0; i < value.length; i++) walk(items, value[i], `${path}[${i}]`, visit);
    return;
  }
  const values = valuesOf(schema);
  for (const [key, child] of Object.entries(value)) {
    const inner = propertyOf(schema, key);
    if (inner) walk(inner, child, joinPath(path, key), visit);
    else if (values) walk(values, child, `${path}[${key}]`, visit);
  }
}

/** Reports whether anything in the schema has to be checked here. */
const hasStructure = memoized((schema: JsonSchema): boolean => {
  const { 'x-kubernetes-list-type': type, properties = {} } = schema;
  const items = itemsOf(schema);
  const values = valuesOf(schema);
  return (
    type === 'set' ||
    type === 'map' ||
    schema['x-kubernetes-embedded-resource'] === true ||
    (items !== undefined && hasStructure(items)) ||
    (values !== undefined && hasStructure(values)) ||
    Object.values(properties).some(hasStructure)
  );
});

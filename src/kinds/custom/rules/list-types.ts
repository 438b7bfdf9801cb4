/**
 * Operators of values that contain lists with a list type: sets and lists with keys are equal in any order, and `+` merges
 * them. A value is compared by the schema of the left operand, as in Kubernetes.
 */
import { memoized } from '../../../base/collections/memoized.ts';
import { isTree } from '../../../base/json/tree.ts';
import type { Operators } from '../../../cel/types/type.ts';
import { equal, type StepCounter } from '../../../cel/values/equality.ts';
import { isMap, mapGet, mapSize } from '../../../cel/values/map.ts';
import { numericValue } from '../../../cel/values/numbers.ts';
import type { Value } from '../../../cel/values/value.ts';
import { itemsOf, type JsonSchema, propertyOf, valuesOf } from '../../../json-schema/json-schema.ts';
import { keysText } from '../../../json-schema/same-value.ts';

/** The operators of a schema's values; undefined where they are those of the language. */
export function listTypeOperators(schema: JsonSchema): Operators | undefined {
  if (!hasListTypes(schema)) return undefined;
  const operators: Operators = { equal: (a, b, counter) => equalBySchema(schema, a, b, counter) };
  const add = additionOf(schema);
  return add ? { ...operators, add } : operators;
}

function additionOf(schema: JsonSchema): Operators['add'] {
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return union;
    case 'map': {
      const keys = schema['x-kubernetes-list-map-keys'] ?? [];
      return (a, b) => merged(a, b, keys);
    }
    default:
      return undefined;
  }
}

/** Reports whether values of a schema contain lists with a list type other than `atomic`. */
const hasListTypes = memoized((schema: JsonSchema): boolean => {
  const { 'x-kubernetes-list-type': type, properties = {}, items, additionalProperties } = schema;
  return (
    type === 'set' ||
    type === 'map' ||
    [...Object.values(properties), items, additionalProperties].some(
      (each) => isTree(each) && hasListTypes(each as JsonSchema),
    )
  );
});

function equalBySchema(schema: JsonSchema, a: Value, b: Value, counter: StepCounter): boolean {
  if (a === b) return true;
  if (!hasListTypes(schema)) return equal(a, b, counter);
  if (Array.isArray(a) && Array.isArray(b)) return equalLists(schema, a, b, counter);
  if (!isTree(a) || !isMap(b)) return equal(a, b, counter);
  const names = Object.keys(a);
  counter.steps += names.length;
  if (names.length !== mapSize(b)) return false;
  return names.every((name) => {
    const other = mapGet(b, name);
    if (other === undefined) return false;
    const inner = propertyOf(schema, name) ?? valuesOf(schema);
    const value = a[name] as Value;
    return inner ? equalBySchema(inner, value, other, counter) : equal(value, other, counter);
  });
}

function equalLists(schema: JsonSchema, a: readonly Value[], b: readonly Value[], counter: StepCounter): boolean {
  counter.steps += a.length;
  if (a.length !== b.length) return false;
  const { 'x-kubernetes-list-type': type, 'x-kubernetes-list-map-keys': keys = [] } = schema;
  const items = itemsOf(schema) ?? {};
  if (type === 'set') return new ItemSet(a, counter).hasAll(b);
  if (type !== 'map') return a.every((item, i) => equalBySchema(items, item, b[i]!, counter));
  const byKeys = new Map(a.map((item) => [keysText(item, keys), item]));
  return b.every((item) => {
    const other = byKeys.get(keysText(item, keys));
    return other !== undefined && equalBySchema(items, other, item, counter);
  });
}

/** Items of a set. They are scalars, but for lists and objects that are atomic. */
class ItemSet {
  readonly #scalars: Set<Value>;
  readonly #others: Value[];

  constructor(
    items: readonly Value[],
    readonly counter: StepCounter = { steps: 0 },
  ) {
    this.#scalars = new Set(items.map(scalarOf));
    this.#others = items.filter((item) => typeof item === 'object');
  }

  add(item: Value): void {
    this.#scalars.add(scalarOf(item));
    if (typeof item === 'object') this.#others.push(item);
  }

  has(item: Value): boolean {
    if (this.#scalars.has(scalarOf(item))) return true;
    if (typeof item !== 'object') return false;
    this.counter.steps += this.#others.length;
    return this.#others.some((other) => equal(other, item, this.counter));
  }

  hasAll(items: readonly Value[]): boolean {
    return items.every((item) => this.has(item));
  }
}

/** Treats numbers as equal whatever their types. */
const scalarOf = (item: Value): Value => (numericValue(item) as Value | undefined) ?? item;

function union(a: readonly Value[], b: readonly Value[]): Value {
  const items = new ItemSet(a);
  const result = [...a];
  for (const item of b) {
    if (items.has(item)) continue;
    items.add(item);
    result.push(item);
  }
  return result;
}

/** Items of `b` replace those of `a` that have their keys; others follow. */
function merged(a: readonly Value[], b: readonly Value[], keys: readonly string[]): Value {
  const result = [...a];
  const positions = new Map(a.map((item, i) => [keysText(item, keys), i]));
  for (const item of b) {
    const position = positions.get(keysText(item, keys));
    if (position === undefined) result.push(item);
    else result[position] = item;
  }
  return result;
}

/** The steps through an object: objects with the same fields take the same ones. */
import { memoized } from '../../base/collections/memoized.ts';
import { isTree, type Tree } from '../../base/json/tree.ts';
import type { ListSchema, Schema } from '../schema.ts';
import {
  type AnySchema,
  type Container,
  containerOf,
  DEDUCED,
  isFreeForm,
  itemElement,
  schemaAt,
} from './container.ts';
import { identifierIn } from './identifier.ts';
import { type AnyNode, type Described, type Found, NOWHERE, type Steps, StepTree, type Token } from './step-tree.ts';

export class Signatures<V> extends StepTree<V> {
  of(described: Described, object: unknown): Found<V> | undefined {
    const walk = walkOf(described.schema);
    return this.find(described, (start, steps) => walk(object, start, steps));
  }
}

export const END = Symbol('end');
export const MAP = Symbol('map');
export const LIST = Symbol('list');
const ITEM = Symbol('item');
const NULL = Symbol('null');
const HOLLOW = Symbol('hollow');

/** Walks a value that is not undefined, from a node on. */
export type Walk = (value: unknown, at: AnyNode, steps: Steps) => AnyNode;

export const walkOf = (schema: AnySchema): Walk => (schema === DEDUCED ? deduced : walkIn(schema));

const walkIn = memoized((schema: Schema): Walk => {
  if (isFreeForm(schema)) return deduced;
  const container = containerOf(schema);
  switch (container.type) {
    case 'leaf':
      return leaf;
    case 'list':
      return listWalk(container.schema);
    case 'map':
      return mapWalk(schema, container);
  }
});

/** A leaf with a value is its name alone. */
const leaf: Walk = (value, at, steps) => {
  if (typeof value !== 'object') return at;
  if (value === null) return steps.to(at, NULL);
  // An empty value may be one that an object has before anything is set (zero.ts).
  return isHollow(value) ? steps.to(steps.to(at, HOLLOW), JSON.stringify(value)) : at;
};

/** Reports whether a value consists of nothing but empty maps, empty lists and nulls. */
function isHollow(value: unknown): boolean {
  if (typeof value !== 'object') return value === undefined;
  for (const key in value) if (!isHollow((value as Tree)[key])) return false;
  return true;
}

/** Walks values without a schema: see `containerOf`. */
const deduced: Walk = (value, at, steps) => {
  if (!isTree(value)) return leaf(value, at, steps);
  let here = steps.to(at, MAP);
  for (const key in value) {
    if (value[key] !== undefined) here = deduced(value[key], steps.to(here, key), steps);
    if (here === NOWHERE) return NOWHERE;
  }
  return steps.to(here, END);
};

function mapWalk(schema: AnySchema, container: Extract<Container, { type: 'map' }>): Walk {
  const walkAt = byField(schema, container, walkOf);
  return (value, at, steps) => {
    if (!isTree(value)) return leaf(value, at, steps);
    let here = steps.to(at, MAP);
    for (const key in value) {
      const child = value[key];
      if (child === undefined) continue;
      here = steps.to(here, key);
      // A scalar is a leaf for every type of container.
      if (typeof child === 'object') here = walkAt(key)(child, here, steps);
      // The rest of a large object need not be looked at.
      if (here === NOWHERE) return NOWHERE;
    }
    return steps.to(here, END);
  };
}

/** Makes one value for the schema of each field, when an object first has the field: schemas may contain themselves. */
export function byField<T>(
  schema: AnySchema,
  container: Extract<Container, { type: 'map' }>,
  make: (schema: AnySchema) => T,
): (key: string) => T {
  const declared = new Map<string, T>();
  const declare = (key: string) => {
    const made = make(schemaAt(container, key) ?? schema);
    if (container.fields && Object.hasOwn(container.fields, key)) declared.set(key, made);
    return made;
  };
  return (key) => declared.get(key) ?? declare(key);
}

function listWalk(schema: ListSchema): Walk {
  const stepsTo = itemSteps(schema);
  const below = schema.list === 'set' ? undefined : () => walkOf(schema.items);
  return (value, at, steps) => {
    if (!Array.isArray(value)) return leaf(value, at, steps);
    const walk = below?.();
    let here = steps.to(at, LIST);
    for (const item of value) {
      here = stepsTo(item, here, steps);
      if (walk) here = walk(item, here, steps);
      if (here === NOWHERE) return NOWHERE;
    }
    return steps.to(here, END);
  };
}

/** The steps to an item of a list: its keys where they are plain, because its element is more work to make. */
export function itemSteps(schema: ListSchema): Walk {
  const keys = schema.list === 'map' ? (schema.keys ?? []) : [];
  const identifierOf = identifierIn(schema);
  return (item, at, steps) => {
    const identifier = identifierOf?.(item);
    if (identifier !== undefined) return steps.toIdentifier(at, identifier);
    if (!hasPlainKeys(item, keys)) {
      // An identifier that is a default would be in the set, but not among those that were found.
      if (identifierOf && keys.length > 0) return NOWHERE;
      return steps.to(steps.to(at, ITEM), itemElement(schema, item) ?? '');
    }
    let here = at;
    for (const key of keys) here = steps.to(here, item[key]!);
    return here;
  };
}

export function hasPlainKeys(item: unknown, keys: readonly string[]): item is Readonly<Record<string, Token>> {
  if (keys.length === 0 || !isTree(item)) return false;
  for (const key of keys) if (typeof item[key] !== 'string' && typeof item[key] !== 'number') return false;
  return true;
}

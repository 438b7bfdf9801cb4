/**
 * Steps through the changes of a write: writes that add, modify and remove the same fields take the same steps, so that
 * the result of `compareFields` is also the same.
 */
import { memoized } from '../../base/collections/memoized.ts';
import { deepEqual, isTree, type Tree } from '../../base/json/tree.ts';
import type { ListSchema, ObjectSchema, Schema } from '../schema.ts';
import { type AnySchema, type Container, containerOf, DEDUCED, isFreeForm } from './container.ts';
import { byField, END, hasPlainKeys, itemSteps, LIST, MAP, walkOf } from './signature.ts';
import { type AnyNode, type Described, type Found, NOWHERE, type Steps, StepTree } from './step-tree.ts';

export class ChangeSignatures<V> extends StepTree<V> {
  of(described: Described, before: unknown, after: unknown): Found<V> | undefined {
    const compare = wholeOf(described.schema);
    return this.find(described, (start, steps) => compare(before, after, start, steps));
  }
}

const ADDED = Symbol('added');
const MODIFIED = Symbol('modified');
const REMOVED = Symbol('removed');

/** Limit for the length of lists that are walked: the items of the one are searched in the other. */
const MAX_ITEMS = 16;

/** Walks two values that differ, neither of which is undefined. */
type Compare = (before: unknown, after: unknown, at: AnyNode, steps: Steps) => AnyNode;

const wholeOf = memoized((schema: ObjectSchema): Compare => {
  const container = containerOf(schema);
  // An object is a map. Most of its parts are the same after a write.
  return container.type === 'map' ? mapCompare(schema, container, deepEqual) : leaf;
});

const compareOf = (schema: AnySchema): Compare => (schema === DEDUCED ? deduced : compareIn(schema));

const compareIn = memoized((schema: Schema): Compare => {
  if (isFreeForm(schema)) return deduced;
  const container = containerOf(schema);
  switch (container.type) {
    case 'leaf':
      return leaf;
    case 'list':
      return listCompare(container.schema);
    case 'map':
      return mapCompare(schema, container, isSame);
  }
});

const isSame = (before: unknown, after: unknown) => before === after;

const leaf: Compare = (before, after, at, steps) => (deepEqual(before, after) ? at : steps.to(at, MODIFIED));

/** Compares values without a schema: maps are walked, everything else is a leaf. */
const deduced: Compare = (before, after, at, steps) => {
  if (isTree(before) && isTree(after)) return deducedMaps(before, after, at, steps);
  return before === null || after === null ? NOWHERE : leaf(before, after, at, steps);
};
const deducedMaps = mapCompare(DEDUCED, { type: 'map', fields: undefined, others: DEDUCED }, isSame);

function mapCompare(
  schema: AnySchema,
  container: Extract<Container, { type: 'map' }>,
  isEqual: (before: unknown, after: unknown) => boolean,
): Compare {
  const walkAt = byField(schema, container, walkOf);
  const compareAt = byField(schema, container, compareOf);
  return (before, after, at, steps) => {
    if (!isTree(before) || !isTree(after)) return NOWHERE;
    let here = steps.to(at, MAP);
    for (const key in after) {
      const was = before[key];
      const is = after[key];
      if (was === is || isEqual(was, is)) continue;
      here = steps.to(here, key);
      if (was === undefined) here = walkAt(key)(is, steps.to(here, ADDED), steps);
      else if (is === undefined) here = walkAt(key)(was, steps.to(here, REMOVED), steps);
      else if (typeof was !== 'object' && typeof is !== 'object') here = steps.to(here, MODIFIED);
      else here = compareAt(key)(was, is, here, steps);
      if (here === NOWHERE) return NOWHERE;
    }
    for (const key in before) {
      const was = before[key];
      if (was !== undefined && !(key in after)) {
        here = walkAt(key)(was, steps.to(steps.to(here, key), REMOVED), steps);
      }
    }
    return steps.to(here, END);
  };
}

function listCompare(schema: ListSchema): Compare {
  const stepsTo = itemSteps(schema);
  const isSet = schema.list === 'set';
  const keys = schema.keys ?? [];
  const isPlain = (item: unknown) => (isSet ? typeof item === 'string' : hasPlainKeys(item, keys));
  const indexOf = isSet ? (items: readonly unknown[], item: unknown) => items.indexOf(item) : indexByKeys(keys);
  const canWalk = (items: unknown): items is readonly unknown[] => {
    if (!Array.isArray(items) || items.length > MAX_ITEMS) return false;
    for (let i = 0; i < items.length; i++) if (!isPlain(items[i]) || indexOf(items, items[i]) !== i) return false;
    return true;
  };
  return (before, after, at, steps) => {
    if (!canWalk(before) || !canWalk(after)) return NOWHERE;
    let here = steps.to(at, LIST);
    for (const item of after) {
      const index = indexOf(before, item);
      // Takes no step: an identifier that did not change is not part of the change.
      if (index >= 0 && deepEqual(before[index], item)) continue;
      here = stepsTo(item, here, steps);
      if (index >= 0) here = compareOf(schema.items)(before[index], item, here, steps);
      else here = walkOf(schema.items)(item, steps.to(here, ADDED), steps);
    }
    for (const item of before) {
      if (indexOf(after, item) >= 0) continue;
      here = walkOf(schema.items)(item, stepsTo(item, steps.to(here, REMOVED), steps), steps);
    }
    return steps.to(here, END);
  };
}

/** The place of the item that has the keys of another one; all are known to have them. */
function indexByKeys(keys: readonly string[]): (items: readonly unknown[], item: unknown) => number {
  return (items, item) => {
    for (let i = 0; i < items.length; i++) if (haveSameKeys(items[i] as Tree, item as Tree, keys)) return i;
    return -1;
  };
}

function haveSameKeys(one: Tree, other: Tree, keys: readonly string[]): boolean {
  for (const key of keys) if (one[key] !== other[key]) return false;
  return true;
}

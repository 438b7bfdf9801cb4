import { deepEqual, isTree, type Tree } from '../../base/json/tree.ts';
import type { ListSchema, ObjectSchema } from '../schema.ts';
import { type AnySchema, containerOf, itemElement, schemaAt } from './container.ts';
import { fieldElement } from './element.ts';
import { type FieldSet, LEAF, NO_FIELDS, SELF, union } from './field-set.ts';

/** Differences between two objects. No field is in two of the sets. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** Compares two objects of one version. */
export function compareFields(schema: ObjectSchema, before: unknown, after: unknown): Comparison {
  const {
    added = NO_FIELDS,
    modified = NO_FIELDS,
    removed = NO_FIELDS,
  } = differenceOf(schema, before, after, { isWhole: true }) ?? {};
  return { added, modified, removed };
}

type Difference = { -readonly [K in keyof Comparison]?: FieldSet };

const ADDED: Difference = Object.freeze({ added: LEAF });
const MODIFIED: Difference = Object.freeze({ modified: LEAF });
const REMOVED: Difference = Object.freeze({ removed: LEAF });

interface Compared {
  /** True when the values are whole objects, whose unchanged parts are compared without schema first. */
  readonly isWhole: boolean;
}

const PART: Compared = { isWhole: false };

/** The difference at a path and below it, as nodes; undefined when there is none. An absent value is undefined. */
function differenceOf(schema: AnySchema, before: unknown, after: unknown, { isWhole } = PART): Difference | undefined {
  if (before === after) return undefined;
  const container = containerOf(schema, before, after);
  if (container.type === 'leaf' || (isEmpty(before) && isEmpty(after))) return leaf(before, after);
  const found = new Differences({ isNew: before === undefined, isGone: after === undefined });
  if (container.type === 'list') compareItems(found, container.schema, before, after);
  else {
    const old = isTree(before) ? before : NO_VALUES;
    const next = isTree(after) ? after : NO_VALUES;
    for (const key in next) {
      const [was, is] = [old[key], next[key]];
      if (was === is || (isWhole && deepEqual(was, is))) continue;
      const difference = differenceOf(schemaAt(container, key) ?? schema, was, is);
      if (difference) found.add(fieldElement(key), difference);
    }
    for (const key in old) {
      if (key in next) continue;
      const difference = differenceOf(schemaAt(container, key) ?? schema, old[key], undefined);
      if (difference) found.add(fieldElement(key), difference);
    }
  }
  return found.sets();
}

const NO_VALUES: Tree = Object.freeze({});

function leaf(before: unknown, after: unknown): Difference | undefined {
  if (before === undefined) return ADDED;
  if (after === undefined) return REMOVED;
  return deepEqual(before, after) ? undefined : MODIFIED;
}

/** Reports whether a value is nothing, or an empty list or map. */
export function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isTree(value) && Object.keys(value).length === 0;
}

/** The differences below a path. A path that is new or gone is itself in its set; it comes first, so that no set is copied. */
class Differences {
  #added: MutableFieldSet | undefined;
  #modified: MutableFieldSet | undefined;
  #removed: MutableFieldSet | undefined;
  readonly #path: { readonly isNew: boolean; readonly isGone: boolean };

  constructor(path: { readonly isNew: boolean; readonly isGone: boolean }) {
    this.#path = path;
  }

  add(element: string, found: Difference | undefined): void {
    if (!found) return;
    const { added, modified, removed } = found;
    const { isNew, isGone } = this.#path;
    if (added) this.#added = put(this.#added ?? begun(isNew), element, added);
    if (modified) this.#modified = put(this.#modified ?? {}, element, modified);
    if (removed) this.#removed = put(this.#removed ?? begun(isGone), element, removed);
  }

  sets(): Difference {
    const { isNew, isGone } = this.#path;
    const sets: Difference = {};
    const added = this.#added ?? (isNew ? LEAF : undefined);
    const removed = this.#removed ?? (isGone ? LEAF : undefined);
    if (added) sets.added = added;
    if (this.#modified) sets.modified = this.#modified;
    if (removed) sets.removed = removed;
    return sets;
  }
}

type MutableFieldSet = Record<string, FieldSet>;

const begun = (isMember: boolean): MutableFieldSet => (isMember ? { [SELF]: LEAF } : {});

function put(set: MutableFieldSet, element: string, node: FieldSet): MutableFieldSet {
  const known = set[element];
  set[element] = known ? union({ [element]: known }, { [element]: node })[element]! : node;
  return set;
}

/** Items that have the same keys as others are compared together, as one leaf. */
function compareItems(found: Differences, schema: ListSchema, before: unknown, after: unknown): void {
  const old = itemsByElement(schema, before);
  const next = itemsByElement(schema, after);
  for (const element of new Set([...old.keys(), ...next.keys()])) {
    const was = old.get(element) ?? NONE;
    const is = next.get(element) ?? NONE;
    if (was.length <= 1 && is.length <= 1) found.add(element, differenceOf(schema.items, was[0], is[0]));
    else if (was.length > 1 && is.length > 1) found.add(element, deepEqual(was, is) ? undefined : MODIFIED);
    else if (was.length > 1) {
      if (is.length > 0) found.add(element, differenceOf(schema.items, undefined, is[0]));
      found.add(element, REMOVED);
    } else {
      if (was.length > 0) found.add(element, differenceOf(schema.items, was[0], undefined));
      found.add(element, ADDED);
    }
  }
}

const NONE: readonly unknown[] = Object.freeze([]);

function itemsByElement(schema: ListSchema, value: unknown): Map<string, unknown[]> {
  const items = new Map<string, unknown[]>();
  if (!Array.isArray(value)) return items;
  for (const item of value) {
    const element = itemElement(schema, item);
    if (element === undefined) continue;
    const same = items.get(element);
    if (same) same.push(item);
    else items.set(element, [item]);
  }
  return items;
}

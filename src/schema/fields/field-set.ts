/**
 * Sets of fields, in the form of `fieldsV1`: nested objects whose keys are the elements of paths. A path is a member of the
 * set when its object is empty or has the key `.`. The root itself is no member: an empty root is the empty set.
 */
import { isTree, type Tree } from '../../base/json/tree.ts';
import { elementText, isElement, sortElements } from './element.ts';

export interface FieldSet {
  readonly [element: string]: FieldSet;
}

export const SELF = '.';

export const NO_FIELDS: FieldSet = Object.freeze({});
/** A member without members below it. */
export const LEAF: FieldSet = Object.freeze({});

export function isEmptySet(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

/** Reports whether the path to a node is a member. */
function isMember(node: FieldSet): boolean {
  return SELF in node || isEmptySet(node);
}

/** A node whose path is a member, with the members below it. */
export function withSelf(node: FieldSet | undefined): FieldSet {
  return !node || isMember(node) ? (node ?? LEAF) : { [SELF]: LEAF, ...node };
}

/** Returns the members below a path as a separate set. */
function below(node: FieldSet): FieldSet {
  if (!(SELF in node)) return node;
  const { [SELF]: _, ...rest } = node;
  return rest;
}

/** Returns a node; undefined for one without members. */
function node(isOwn: boolean, members: FieldSet): FieldSet | undefined {
  if (isEmptySet(members)) return isOwn ? LEAF : undefined;
  return isOwn ? { [SELF]: LEAF, ...members } : members;
}

type MutableFieldSet = Record<string, FieldSet>;

// These functions look at the members below the nodes that they are given, and not at the nodes themselves.

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmptySet(b)) return below(a);
  if (isEmptySet(a)) return below(b);
  const out: MutableFieldSet = {};
  for (const key in a) if (key !== SELF) out[key] = a[key]!;
  for (const key in b) {
    if (key === SELF) continue;
    const mine = a[key];
    const other = b[key]!;
    out[key] = mine ? node(isMember(mine) || isMember(other), union(mine, other))! : other;
  }
  return out;
}

/** Returns the members of `a` that are not members of `b`. Members below a member of `b` stay. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return select(a, b, (mine, other) => node(isMember(mine) && !isMember(other), difference(mine, other)));
}

/** Works like `difference`, but also removes members below a member of `b`. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  return select(a, b, (mine, other) =>
    isMember(other) ? undefined : node(isMember(mine), recursiveDifference(mine, other)),
  );
}

function select(a: FieldSet, b: FieldSet, both: (mine: FieldSet, other: FieldSet) => FieldSet | undefined): FieldSet {
  if (isEmptySet(a) || isEmptySet(b)) return below(a);
  const out: MutableFieldSet = {};
  for (const key in a) {
    if (key === SELF) continue;
    const mine = a[key]!;
    const other = b[key];
    const left = other ? both(mine, other) : mine;
    if (left) out[key] = left;
  }
  return out;
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const out: MutableFieldSet = {};
  if (isEmptySet(b)) return out;
  for (const key in a) {
    const other = b[key];
    if (key === SELF || !other) continue;
    const mine = a[key]!;
    const common = node(isMember(mine) && isMember(other), intersection(mine, other));
    if (common) out[key] = common;
  }
  return out;
}

/** The members below one element; undefined when there are none. */
export function subset(set: FieldSet, element: string): FieldSet | undefined {
  const found = set[element];
  if (!found) return undefined;
  const members = below(found);
  return isEmptySet(members) ? undefined : members;
}

export function hasElement(set: FieldSet, element: string): boolean {
  const found = set[element];
  return found !== undefined && isMember(found);
}

/** Returns the paths of all members as messages show them: those of one level before those below them. */
export function pathsIn(set: FieldSet, path = ''): string[] {
  const elements = sortElements(Object.keys(set).filter((key) => key !== SELF));
  const own = elements.filter((key) => isMember(set[key]!)).map((key) => path + elementText(key));
  return [...own, ...elements.flatMap((key) => pathsIn(set[key]!, path + elementText(key)))];
}

/** Returns the same set with its keys in the order of `fieldsV1`. */
export function sorted(set: FieldSet): FieldSet {
  const keys = Object.keys(set);
  if (keys.length === 0) return LEAF;
  const out: MutableFieldSet = {};
  for (const key of sortElements(keys)) out[key] = key === SELF ? LEAF : sorted(set[key]!);
  return out;
}

/** Reads `fieldsV1`; undefined when it is not valid. Elements of an unknown type are left out. */
export function parseFieldSet(value: unknown): FieldSet | undefined {
  if (value === undefined || value === null) return NO_FIELDS;
  if (!isTree(value)) return undefined;
  const out: MutableFieldSet = {};
  for (const [key, child] of Object.entries(value as Tree)) {
    if (key === SELF) {
      out[SELF] = LEAF;
      continue;
    }
    if (key[1] === ':' && !'fkvi'.includes(key[0]!)) continue;
    const parsed = isElement(key) ? parseFieldSet(child) : undefined;
    if (!parsed) return undefined;
    out[key] = parsed;
  }
  return out;
}

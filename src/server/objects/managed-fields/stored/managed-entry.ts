/** An entry of `managedFields` whose set of fields is created on first read: most objects are never asked for it. */
import { deepEqual } from '../../../../base/json/tree.ts';
import type { ObjectMeta } from '../../../../kinds/shapes/meta/object-meta.ts';
import type { FieldSet } from '../../../../schema/fields/field-set.ts';
import { fieldsOf, type InternedSet, sameSet } from './interned-sets.ts';

export type ManagedFieldsEntry = NonNullable<ObjectMeta['managedFields']>[number];

export interface EntryOptions {
  readonly manager: string;
  readonly operation: string;
  /** The version that the names of the fields refer to. */
  readonly apiVersion: string;
  /** The subresource that the fields were written through; empty for the object itself. */
  readonly subresource: string;
  /** The time of the last change, if known. */
  readonly time: string | undefined;
  readonly set: InternedSet;
}

const SET = Symbol('set');

interface LazyEntry extends ManagedFieldsEntry {
  [SET]: InternedSet;
}

const FIELDS: PropertyDescriptor & ThisType<LazyEntry> = {
  enumerable: true,
  configurable: true,
  get(): FieldSet {
    return fieldsOf(this[SET]);
  },
};

export function managedEntry({
  manager,
  operation,
  apiVersion,
  subresource,
  time,
  set,
}: EntryOptions): ManagedFieldsEntry {
  const entry = {} as LazyEntry;
  if (manager) entry.manager = manager;
  entry.operation = operation;
  entry.apiVersion = apiVersion;
  if (time) entry.time = time;
  entry.fieldsType = 'FieldsV1';
  Object.defineProperty(entry, 'fieldsV1', FIELDS);
  if (subresource) entry.subresource = subresource;
  Object.defineProperty(entry, SET, { value: set });
  return entry;
}

/** Entries that several objects have in common. */
export function sharedEntries(entries: ManagedFieldsEntry[]): readonly ManagedFieldsEntry[] {
  for (const entry of entries) Object.freeze(entry);
  return Object.freeze(entries);
}

/** Returns the set of an entry that was created here; undefined for entries from clients. */
export function setOf(entry: ManagedFieldsEntry): InternedSet | undefined {
  return (entry as Partial<LazyEntry>)[SET];
}

export interface EntryComparison {
  readonly ignoreTimes?: boolean;
}

/** Reports whether two lists are equal. Sets are created only if a client sent one of the lists. */
export function sameEntries(
  a: readonly ManagedFieldsEntry[],
  b: readonly ManagedFieldsEntry[],
  { ignoreTimes = false }: EntryComparison = {},
): boolean {
  if (a === b) return true;
  return a.length === b.length && a.every((entry, index) => sameEntry(entry, b[index]!, ignoreTimes));
}

function sameEntry(a: ManagedFieldsEntry, b: ManagedFieldsEntry, ignoreTime: boolean): boolean {
  return (
    a.manager === b.manager &&
    a.operation === b.operation &&
    a.apiVersion === b.apiVersion &&
    a.subresource === b.subresource &&
    a.fieldsType === b.fieldsType &&
    (ignoreTime || a.time === b.time) &&
    sameFields(a, b)
  );
}

function sameFields(a: ManagedFieldsEntry, b: ManagedFieldsEntry): boolean {
  const one = setOf(a);
  const other = setOf(b);
  return one && other ? sameSet(one, other) : deepEqual(a.fieldsV1, b.fieldsV1);
}

import { ApiError } from '../../../api/errors.ts';
import type { Version } from '../../../kinds/kind.ts';
import { afterElements, hasMoreFields } from '../../../schema/fields/count.ts';
import { compareText } from '../../../schema/fields/element.ts';
import { type FieldSet, isEmptySet, NO_FIELDS, parseFieldSet, union } from '../../../schema/fields/field-set.ts';
import { fieldsOf, internSet } from './stored/interned-sets.ts';
import { type EntryOptions, type ManagedFieldsEntry, managedEntry, setOf } from './stored/managed-entry.ts';

export interface Manager extends Omit<EntryOptions, 'set'> {
  readonly operation: 'Apply' | 'Update';
  readonly fields: FieldSet;
}

export type Managers = ReadonlyMap<string, Manager>;

export const NO_MANAGERS: Managers = new Map();

/** Returns the identifier of a manager. A client that applies is the same manager in every version. */
export function identifierOf({
  manager,
  operation,
  apiVersion,
  subresource,
}: Pick<Manager, 'manager' | 'operation' | 'apiVersion' | 'subresource'>): string {
  const name = manager ? `"manager":${quoted(manager)},` : '';
  const version = operation === 'Update' ? `,"apiVersion":${quoted(apiVersion)}` : '';
  const path = subresource ? `,"subresource":${quoted(subresource)}` : '';
  return `{${name}"operation":"${operation}"${version}${path}}`;
}

const quoted = (text: string) => (/^[-./:\w]*$/.test(text) ? `"${text}"` : JSON.stringify(text));

/** Parses `managedFields`; undefined when an entry is invalid, or when a client sent more fields than the limit. */
export function readManagers(entries: readonly ManagedFieldsEntry[] = []): Managers | undefined {
  const sent = entries.filter((entry) => !setOf(entry));
  if (!areManageable(sent.map(({ fieldsV1 }) => fieldsV1 as FieldSet))) return undefined;
  const managers = new Map<string, Manager>();
  for (const entry of entries) {
    const { manager = '', operation, apiVersion, time, fieldsType, subresource = '' } = entry;
    if ((operation !== 'Apply' && operation !== 'Update') || !apiVersion || fieldsType !== 'FieldsV1') return undefined;
    const set = setOf(entry);
    const fields = set ? fieldsOf(set) : parseFieldSet(entry.fieldsV1);
    if (!fields) return undefined;
    const read = { manager, operation, apiVersion, subresource, time, fields } as const;
    managers.set(identifierOf(read), read);
  }
  return managers;
}

/** Lists the managers as `managedFields`; undefined when there are none. */
export function listManagers(managers: Managers): ManagedFieldsEntry[] | undefined {
  if (managers.size === 0) return undefined;
  const entries = [...managers.values()].map(({ manager, operation, apiVersion, subresource, time, fields }) =>
    managedEntry({ manager, operation, apiVersion, subresource, time, set: internSet(fields) }),
  );
  return entries.sort(compareEntries);
}

/** Compares entries in the order of `managedFields`. */
export function compareEntries(a: ManagedFieldsEntry, b: ManagedFieldsEntry): number {
  return (
    compareText(a.operation!, b.operation!) ||
    (a.time === b.time ? 0 : secondsOf(a) - secondsOf(b)) ||
    compareText(a.manager ?? '', b.manager ?? '') ||
    compareText(a.apiVersion!, b.apiVersion!) ||
    compareText(a.subresource ?? '', b.subresource ?? '')
  );
}

function secondsOf({ time }: Pick<ManagedFieldsEntry, 'time'>): number {
  return time ? Math.floor(Date.parse(time) / 1000) : 0;
}

/** Returns the manager with other fields; undefined when none is left. */
export function withFields(owner: Manager, fields: FieldSet): Manager | undefined {
  if (fields === owner.fields) return owner;
  const { manager, operation, apiVersion, subresource, time } = owner;
  return isEmptySet(fields) ? undefined : { manager, operation, apiVersion, subresource, time, fields };
}

/** Limit for managers that update; beyond it the oldest are merged. Those that apply are all kept. */
export const MAX_UPDATE_MANAGERS = 10;
const OLD_UPDATES_MANAGER = 'ancient-changes';

/** Merges the oldest managers of each version when there are too many. */
export function capManagers(managers: Managers): Managers {
  if (managers.size <= MAX_UPDATE_MANAGERS) return managers;
  const updaters = [...managers].filter(([, { operation }]) => operation === 'Update');
  if (updaters.length <= MAX_UPDATE_MANAGERS) return managers;
  updaters.sort(([a, one], [b, other]) => secondsOf(one) - secondsOf(other) || compareText(a, b));
  const left = new Map(managers);
  const firstOfVersion = new Map<string, string>();
  const merged = new Map<string, FieldSet[]>();
  let count = updaters.length;
  for (const [identifier, updater] of updaters) {
    if (count <= MAX_UPDATE_MANAGERS) break;
    const { apiVersion, time } = updater;
    const first = firstOfVersion.get(apiVersion);
    if (first === undefined) {
      firstOfVersion.set(apiVersion, identifier);
      continue;
    }
    const bucket: Omit<Manager, 'fields' | 'time'> = {
      manager: OLD_UPDATES_MANAGER,
      operation: 'Update',
      apiVersion,
      subresource: '',
    };
    const bucketIdentifier = identifierOf(bucket);
    const old = left.get(bucketIdentifier) ?? left.get(first)!;
    const sets = merged.get(bucketIdentifier) ?? [old.fields];
    sets.push(updater.fields);
    merged.set(bucketIdentifier, sets);
    left.delete(first);
    left.delete(identifier);
    left.set(bucketIdentifier, { ...bucket, time, fields: NO_FIELDS });
    count--;
  }
  for (const [identifier, sets] of merged) left.set(identifier, { ...left.get(identifier)!, fields: unionOf(sets) });
  return left;
}

/** Unites sets by halves: a client can send thousands of managers, and a union copies both sets. */
function unionOf(sets: readonly FieldSet[]): FieldSet {
  if (sets.length <= 2) return union(sets[0] ?? NO_FIELDS, sets[1] ?? NO_FIELDS);
  const half = sets.length >> 1;
  return union(unionOf(sets.slice(0, half)), unionOf(sets.slice(half)));
}

/**
 * Limit for an object: every write compares and sorts its fields without a pause, 10 µs for each of them. A larger one
 * has no managers, as if a client had removed them, and cannot be applied to.
 */
const MAX_OBJECT_FIELDS = 10_000;
/** Limit for all managers of an object together: those that apply may own the same fields. */
const MAX_MANAGED_FIELDS = 15_000;

export function isTracked(version: Version, object: unknown): boolean {
  return !hasMoreFields(version.schema, object, MAX_OBJECT_FIELDS);
}

/** Throws when there are too many fields in an object, or in a configuration, for an apply. */
export function checkApplicable(version: Version, tree: unknown): void {
  if (isTracked(version, tree)) return;
  throw tooLarge(`an object with more than ${MAX_OBJECT_FIELDS} fields cannot be applied: update it instead`);
}

/** Throws when the managers of an object own too many fields for an apply. */
export function checkManaged(sets: Iterable<FieldSet>): void {
  if (areManageable(sets)) return;
  throw tooLarge(`the managers of an object own at most ${MAX_MANAGED_FIELDS} fields together`);
}

function areManageable(sets: Iterable<FieldSet>): boolean {
  let left = MAX_MANAGED_FIELDS;
  for (const set of sets) left = left < 0 ? left : afterElements(set, left);
  return left >= 0;
}

const tooLarge = (message: string) => new ApiError('RequestEntityTooLarge', `Request entity too large: ${message}`);

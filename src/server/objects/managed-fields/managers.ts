import { type FieldSet, isEmptySet, parseFieldSet } from '../../../schema/fields/field-set.ts';
import { areManageable } from './limits.ts';
import { fieldsOf, internSet } from './stored/interned-sets.ts';
import { type ManagedFieldsEntry, managedEntry, setOf } from './stored/managed-entry.ts';

export interface Manager {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  /** The version that the names of the fields refer to. */
  readonly apiVersion: string;
  /** The subresource that the fields were written through; empty for the object itself. */
  readonly subresource: string;
  /** The time of the last change, if known. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
}

/** The managers of an object by their identifiers. */
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

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function secondsOf({ time }: Pick<ManagedFieldsEntry, 'time'>): number {
  return time ? Math.floor(Date.parse(time) / 1000) : 0;
}

/** Returns the manager with other fields; undefined when none is left. */
export function withFields(owner: Manager, fields: FieldSet): Manager | undefined {
  if (fields === owner.fields) return owner;
  const { manager, operation, apiVersion, subresource, time } = owner;
  return isEmptySet(fields) ? undefined : { manager, operation, apiVersion, subresource, time, fields };
}

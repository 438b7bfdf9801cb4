import type { Kind, KubeObject, Version } from '../../../kinds/kind.ts';
import { compareFields } from '../../../schema/fields/compare.ts';
import { isEmptySet, union } from '../../../schema/fields/field-set.ts';
import { Signatures } from '../../../schema/fields/signature.ts';
import { zeroObject } from '../../../schema/fields/zero.ts';
import { fromHub } from '../conversion/convert.ts';
import type { ApiRequest, Resource } from '../registry/registry.ts';
import { knownUpdate } from './known-updates.ts';
import { managerOf } from './manager-name.ts';
import { isTracked, listManagers, type Managers, NO_MANAGERS, readManagers } from './managers.ts';
import { ownableFields } from './reset-fields.ts';
import { type InternedSet, internSet } from './stored/interned-sets.ts';
import { type ManagedFieldsEntry, managedEntry, sameEntries, sharedEntries } from './stored/managed-entry.ts';
import { afterUpdate, withoutMetadata } from './update.ts';
import { VersionedTree } from './versioned.ts';

type Entries = readonly ManagedFieldsEntry[] | undefined;

/** A write of an existing object; objects are in the stored version. */
interface TrackedUpdate {
  readonly current: { view(resource: Resource): { readonly object: KubeObject } };
  readonly old: KubeObject;
  readonly object: KubeObject;
  /** The `managedFields` that the request results in, before the server processes them. */
  readonly given: Entries;
  readonly now: () => string;
}

/** A new object, in the stored version, before admission changed it. */
interface TrackedCreate {
  readonly object: KubeObject;
  /** The `managedFields` that the client sent. */
  readonly given: Entries;
  readonly now: string;
}

/** Returns the `managedFields` of a new object, not applied: its creator owns what it sent, and the defaults. */
export function trackCreate(request: ApiRequest, { object, given, now }: TrackedCreate): Entries {
  const { call, resource } = request;
  const { kind } = resource;
  const version = trackedVersion(kind, resource.version);
  const { apiVersion } = version;
  const shown = version === kind.hub ? object : fromHub({ kind, version }, object);
  const managers = managersAsked(given, undefined);
  const manager = managerOf(call);
  if (managers.size === 0) return createdEntries(kind, version, shown, { manager, time: now });
  if (!isTracked(version, shown)) return undefined;
  const updater = { manager, apiVersion, subresource: '', time: now };
  const change = {
    kind,
    version,
    before: new VersionedTree(kind, version, zeroObject(version.schema)),
    after: new VersionedTree(kind, version, shown),
    ownable: (asked: Version) => ownableFields(kind, asked, ''),
  };
  return listManagers(afterUpdate(change, managers, updater));
}

/**
 * Returns the `managedFields` of an object after a write other than an apply. Objects that have none, because a client
 * removed them or because they were created before tracking, are not tracked until they are first applied to. Objects
 * with too many fields are not tracked either.
 */
export function trackUpdate(request: ApiRequest, { current, old, object, given, now }: TrackedUpdate): Entries {
  const { call, resource } = request;
  const { managedFields: live } = old.metadata;
  // Requests that create a subresource, such as a binding, have no manager.
  if (call.verb === 'create') return live;
  const { kind } = resource;
  const version = trackedVersion(kind, resource.version);
  const isHub = version === kind.hub;
  const before = isHub ? old : current.view({ kind, version }).object;
  const after = isHub ? object : fromHub({ kind, version }, object);
  const subresource = call.subresource ?? '';
  const change = {
    kind,
    version,
    before: new VersionedTree(kind, version, before),
    after: new VersionedTree(kind, version, after),
    ownable: (asked: Version) => ownableFields(kind, asked, subresource),
  };
  const updater = { manager: managerOf(call), apiVersion: version.apiVersion, subresource, time: now() };
  const known = live && (subresource || isKept(given, live)) ? knownUpdate(change, live, updater) : undefined;
  if (known) return known;
  if (!isTracked(version, after)) return undefined;
  const managers = subresource ? (readManagers(live) ?? NO_MANAGERS) : managersAsked(given, live);
  if (managers.size === 0) return undefined;
  const next = afterUpdate(change, managers, updater);
  return next === managers && isKept(given, live) ? live : listManagers(next);
}

/** Returns the version in which fields are owned: the stored one if versions are converted asynchronously. */
function trackedVersion(kind: Kind, version: Version): Version {
  return kind.conversion ? kind.hub : version;
}

/** Returns the managers in the request, which may change or remove them; invalid or missing ones are ignored. */
function managersAsked(given: Entries, live: Entries): Managers {
  if (isKept(given, live)) return readManagers(live) ?? NO_MANAGERS;
  if (isReset(given!)) return NO_MANAGERS;
  const asked = readManagers(given);
  return asked && asked.size > 0 ? asked : (readManagers(live) ?? NO_MANAGERS);
}

/** Reports whether a client left the managers unchanged. */
function isKept(given: Entries, live: Entries): boolean {
  return !given || (live !== undefined && sameEntries(given, live));
}

/** Reports whether a list is empty, or has a single empty entry, which removes the managers. */
function isReset(entries: readonly ManagedFieldsEntry[]): boolean {
  return entries.length === 0 || (entries.length === 1 && Object.keys(entries[0]!).length === 0);
}

const MAX_SIGNATURES_BYTES = 8 * 1024 * 1024;

/** The data shared by all objects with the same fields. */
interface Created {
  /** The set, with the identifier of its first object, which is replaced for other objects. */
  readonly set: InternedSet | undefined;
  /** The entries of the previous object. */
  last: CreatedEntries | undefined;
}

interface CreatedEntries extends Creator {
  readonly identifier: string | undefined;
  readonly entries: readonly ManagedFieldsEntry[];
}

interface Creator {
  readonly manager: string;
  /** Time in seconds, so that many objects share it. */
  readonly time: string;
}

const signatures = new Signatures<Created>(MAX_SIGNATURES_BYTES);

/**
 * Returns the `managedFields` of a new object: its creator owns all fields except those that cannot be owned. Undefined
 * when there are none, or too many. The result is cached by the signature of the object, because most objects have the
 * fields of one that was created before.
 */
function createdEntries(kind: Kind, version: Version, object: unknown, creator: Creator) {
  const found = signatures.of(version, object);
  const known = found?.signature.value ?? { set: computed(kind, version, object as KubeObject), last: undefined };
  if (found) found.signature.value = known;
  const { set, last } = known;
  if (!set) return undefined;
  const { manager, time } = creator;
  const identifier = set.identifiers.length > 0 ? found?.identifier : undefined;
  if (last?.manager === manager && last.time === time && last.identifier === identifier) return last.entries;
  const { apiVersion } = version;
  const own = identifier === undefined ? set : { template: set.template, identifiers: [identifier] };
  const entry = managedEntry({ manager, operation: 'Update', apiVersion, subresource: '', time, set: own });
  const entries = sharedEntries([entry]);
  known.last = { manager, time, identifier, entries };
  return entries;
}

function computed(kind: Kind, version: Version, object: KubeObject): InternedSet | undefined {
  if (!isTracked(version, object)) return undefined;
  const { added, modified } = compareFields(version.schema, zeroObject(version.schema), object);
  const fields = withoutMetadata(ownableFields(kind, version, '')(union(modified, added)));
  return isEmptySet(fields) ? undefined : internSet(fields);
}

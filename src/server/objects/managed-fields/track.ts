import type { Kind, KubeObject, Version } from '../../../kinds/kind.ts';
import { zeroObject } from '../../../schema/fields/zero.ts';
import { fromHub } from '../conversion/convert.ts';
import type { ApiRequest } from '../registry/api-request.ts';
import type { Resource } from '../registry/registry.ts';
import { createdEntries } from './created-entries.ts';
import { knownUpdate } from './known-updates.ts';
import { isTracked } from './limits.ts';
import { managerOf } from './manager-name.ts';
import { listManagers, type Managers, NO_MANAGERS, readManagers } from './managers.ts';
import { ownableFields } from './reset-fields.ts';
import { type ManagedFieldsEntry, sameEntries } from './stored/managed-entry.ts';
import { afterUpdate } from './update.ts';
import { VersionedTree } from './versioned.ts';

type Entries = readonly ManagedFieldsEntry[] | undefined;

/** A write of an existing object; objects are in the stored version. */
export interface TrackedUpdate {
  readonly current: { view(resource: Resource): { readonly object: KubeObject } };
  readonly old: KubeObject;
  readonly object: KubeObject;
  /** The `managedFields` that the request results in, before the server processes them. */
  readonly given: Entries;
  readonly now: () => string;
}

/** A new object, in the stored version, before admission changed it. */
export interface TrackedCreate {
  readonly object: KubeObject;
  /** The `managedFields` that the client sent. */
  readonly given: Entries;
  readonly now: string;
}

/**
 * Returns the `managedFields` of a new object that was not applied: its creator owns the fields that it sent, and the
 * defaults.
 */
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

/**
 * Returns the managers in the request. Clients may change managers and remove all of them; invalid or missing ones are
 * ignored.
 */
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

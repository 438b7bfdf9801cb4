import type { Kind, KubeObject, Version } from '../../../kinds/kind.ts';
import { zeroObject } from '../../../schema/fields/zero.ts';
import type { Entry } from '../cache/entry.ts';
import { fromHub } from '../conversion/convert.ts';
import { type ManagedFieldsEntry, sameEntries } from '../managed-fields/managed-entry.ts';
import type { ApiRequest } from '../registry/api-request.ts';
import { createdEntries } from './created-entries.ts';
import { knownUpdate } from './known-updates.ts';
import { isTracked } from './limits.ts';
import { managerOf } from './manager-name.ts';
import { listManagers, type Managers, NO_MANAGERS, readManagers } from './managers.ts';
import { ownableFields } from './reset-fields.ts';
import { afterUpdate } from './update.ts';
import { VersionedTree } from './versioned.ts';

type Entries = readonly ManagedFieldsEntry[] | undefined;

/** A write of an object that exists; objects are in the stored version. */
export interface TrackedUpdate {
  readonly current: Entry;
  readonly old: KubeObject;
  readonly object: KubeObject;
  /** The `managedFields` that the request results in, before the server has looked at them. */
  readonly given: Entries;
  readonly now: () => string;
}

/** A new object, in the stored version, as it was asked for and before admission has changed it. */
export interface TrackedCreate {
  readonly object: KubeObject;
  /** The `managedFields` that the client sent. */
  readonly given: Entries;
  readonly now: string;
}

/** The `managedFields` of a new object that was not applied: its creator owns what it sent, and the defaults. */
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
 * The `managedFields` of an object after a write that is no apply. Objects that have none, because a client removed them or
 * because they are older than this, are not tracked: that begins when they are applied to for the first time. Nor are those
 * that have too many fields.
 */
export function trackUpdate(request: ApiRequest, { current, old, object, given, now }: TrackedUpdate): Entries {
  const { call, resource } = request;
  const { managedFields: live } = old.metadata;
  // Requests that create something at an object, such as a binding, have no manager.
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

/** The version in which fields are owned. Where versions are converted asynchronously, that is the stored one. */
function trackedVersion(kind: Kind, version: Version): Version {
  return kind.conversion ? kind.hub : version;
}

/** Clients may change managers and remove all of them. What is invalid, or left out, does not count. */
function managersAsked(given: Entries, live: Entries): Managers {
  if (isKept(given, live)) return readManagers(live) ?? NO_MANAGERS;
  if (isReset(given!)) return NO_MANAGERS;
  const asked = readManagers(given);
  return asked && asked.size > 0 ? asked : (readManagers(live) ?? NO_MANAGERS);
}

/** Whether a client left the managers as they are. */
function isKept(given: Entries, live: Entries): boolean {
  return !given || (live !== undefined && sameEntries(given, live));
}

/** An empty list, or one of an empty entry. */
function isReset(entries: readonly ManagedFieldsEntry[]): boolean {
  return entries.length === 0 || (entries.length === 1 && Object.keys(entries[0]!).length === 0);
}

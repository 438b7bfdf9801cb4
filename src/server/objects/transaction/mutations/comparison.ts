import type { Call } from '../../../../api/call.ts';
import { deepEqual, type Tree } from '../../../../base/json/tree.ts';
import { timestamp } from '../../../../base/time/timestamp.ts';
import type { HookContext, KubeObject } from '../../../../kinds/kind.ts';
import {
  type EntryComparison,
  type ManagedFieldsEntry,
  sameEntries,
} from '../../managed-fields/stored/managed-entry.ts';
import type { Tools } from '../../ports.ts';
import { declaredSubresource } from '../../registry/registry.ts';

const NOT_DESIRED: ReadonlySet<string> = new Set(['status', 'metadata', 'apiVersion', 'kind']);

/** Reports whether two objects are equal except for their metadata and status. */
export function sameDesiredState(object: KubeObject, old: KubeObject): boolean {
  for (const field of new Set([...Object.keys(object), ...Object.keys(old)])) {
    if (!NOT_DESIRED.has(field) && !sameField(object, old, field)) return false;
  }
  return true;
}

function sameField(object: object, old: object, field: string): boolean {
  return deepEqual((object as Tree)[field], (old as Tree)[field]);
}

export function sameContent(object: KubeObject, old: KubeObject, managers?: EntryComparison): boolean {
  return sameMetadata(object, old, managers) && sameField(object, old, 'status') && sameDesiredState(object, old);
}

/** Fields that a draft does not have, and the managers, which are compared last because that takes longest. */
const OTHERWISE_COMPARED: ReadonlySet<string> = new Set(['resourceVersion', 'selfLink', 'managedFields']);

export function sameMetadata({ metadata }: KubeObject, { metadata: old }: KubeObject, managers?: EntryComparison) {
  for (const field in old) {
    if (!OTHERWISE_COMPARED.has(field) && !sameField(metadata, old, field)) return false;
  }
  for (const field in metadata) {
    if (!OTHERWISE_COMPARED.has(field) && !(field in old) && !sameField(metadata, old, field)) return false;
  }
  return sameManagers(metadata.managedFields, old.managedFields, managers);
}

type Entries = readonly ManagedFieldsEntry[] | undefined;

function sameManagers(entries: Entries, old: Entries, options: EntryComparison | undefined): boolean {
  return entries && old ? sameEntries(entries, old, options) : entries === old;
}

export function hookContext({ clock, random }: Pick<Tools, 'clock' | 'random'>, call: Call): HookContext {
  const { apiVersion, user } = call;
  const subresource = declaredSubresource(call);
  return { now: timestamp(clock.now()), uuid: random.uuid, apiVersion, subresource, user };
}

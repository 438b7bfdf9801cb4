import { badRequest, conflict, notFound } from '../../base/errors.ts';
import { deepEqual } from '../../base/tree.ts';
import type { Kind, KubeObject } from '../../kinds/kind.ts';
import type { ObjectMeta } from '../../kinds/shapes/meta/object-meta.ts';
import { StoreConflict } from '../../store/store.ts';
import type { Entry } from '../cache/entry.ts';
import { keyOf } from '../cache/keys.ts';
import { type Core, hookContext } from '../core.ts';
import type { ApiRequest } from '../operation.ts';
import { checkObject, invalidObject } from './check.ts';
import { commitObject, commitRemoval, withAdmission } from './commit.ts';
import { isDryRun } from './dry-run.ts';
import { noteWarnings } from './warnings.ts';

/** What a change is made of: the wanted object from the current one. Runs again when another write came between. */
export interface Wish {
  /** In the stored version's shape; takes over nothing of `current`. A resourceVersion in it is a lock. */
  readonly wanted: (current: Entry) => KubeObject;
  /** Which part the call may change: everything but status, only status, or whatever it wants. */
  readonly part: 'object' | 'status' | 'any';
}

/** What the path of a replace or a patch lets it change; the rest is for the kind's hooks to take back. */
export function partAt(subresource: string | undefined): Wish['part'] {
  if (subresource === 'status') return 'status';
  return subresource === 'approval' ? 'any' : 'object';
}

export interface Changed {
  readonly entry: Entry | undefined;
  /** The object that would have been stored: set for a dry run, and for one that the change let go. */
  readonly object: KubeObject;
}

/** Changes one object: lock, bookkeeping, checks, commit. A client that named no resourceVersion never sees a conflict. */
export async function change(core: Core, request: ApiRequest, wish: Wish): Promise<Changed> {
  const { resource, call, notes } = request;
  const { kind, version } = resource;
  const { namespace = '', name = '' } = call;
  const key = keyOf(kind, namespace, name);
  await core.cache.fresh();
  for (;;) {
    for (let busy = core.writing.get(key); busy; busy = core.writing.get(key)) await busy.catch(() => undefined);
    const current = core.cache.entry(key);
    if (!current) throw notFound(kind, name);
    const old = current.hub(kind);
    const object = wish.wanted(current);
    checkIdentity(kind, object, old, name);
    if (kind.requiresVersion && call.verb === 'update') checkVersion(kind, object, name);
    keepBookkeeping(object, old);
    keepPart(object, old, wish.part);
    const admission = core.admission.open(core, request, { operation: 'UPDATE', resource, object, old });
    try {
      const admitting = admission?.admit();
      if (admitting) await admitting;
      if (wish.part === 'status') kind.onStatusUpdate?.(object, old, hookContext(core, call));
      else {
        kind.onUpdate?.(object, old, hookContext(core, call));
        // What is noted through a path of its own, such as the node of a pod, is no new wish.
        if (wish.part === 'object') countGeneration(kind, object, old);
      }
      const also = core.allocation.onWrite(kind, object, old);
      shareUnchanged(object, old);
      const subresource = wish.part === 'status' ? 'status' : call.subresource;
      checkObject(kind, object, { old, subresource, apiVersion: version.apiVersion });
      noteWarnings(kind, object, { notes, old, status: wish.part === 'status' });
      const validating = admission?.validate();
      if (validating) await validating;
      if (sameContent(object, old) && current.isUpToDate(kind)) return { entry: current, object: old };
      if (isDryRun(call)) {
        // Shown beside what is there (kubectl diff), only what was asked for may differ.
        object.metadata.resourceVersion = old.metadata.resourceVersion;
        return { entry: undefined, object };
      }
      if (isFinished(kind, object)) {
        await commitRemoval(core, current, core.allocation.onRemoval(kind, old));
        return { entry: undefined, object };
      }
      const draft = { at: current.at, kind, object, expect: current.revision, before: current };
      return { entry: await commitObject(core, { ...draft, also: withAdmission(also, admission) }), object };
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
      await core.cache.reached(error.revision);
    } finally {
      admission?.settle();
    }
  }
}

/** The lock that a resourceVersion or uid asks for. */
function checkIdentity(kind: Kind, object: KubeObject, old: KubeObject, name: string): void {
  const { metadata } = object;
  const { namespace } = old.metadata;
  if (!metadata.name) {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  }
  if (metadata.namespace && metadata.namespace !== namespace) {
    throw badRequest(
      namespace
        ? `the namespace of the object (${metadata.namespace}) does not match the namespace on the URL (${namespace})`
        : 'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
  if (metadata.uid && metadata.uid !== old.metadata.uid) {
    throw conflict(
      kind,
      name,
      `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${old.metadata.uid}`,
    );
  }
  if (
    metadata.resourceVersion &&
    metadata.resourceVersion !== '0' &&
    metadata.resourceVersion !== old.metadata.resourceVersion
  ) {
    if (!/^[0-9]+$/.test(metadata.resourceVersion)) {
      throw badRequest(
        `invalid resource version: Invalid value: ${JSON.stringify(metadata.resourceVersion)}: strconv.ParseUint: parsing ${JSON.stringify(metadata.resourceVersion)}: invalid syntax`,
      );
    }
    throw conflict(kind, name);
  }
}

/** Kinds that several write to may not be replaced blindly. */
function checkVersion({ group, plural }: Kind, { metadata }: KubeObject, name: string): void {
  if (metadata.resourceVersion && metadata.resourceVersion !== '0') return;
  const message = 'Invalid value: 0x0: must be specified for an update';
  throw invalidObject({ group, kind: plural }, name, [
    { reason: 'FieldValueInvalid', field: 'metadata.resourceVersion', message },
  ]);
}

/** What only the server writes is as it was. */
function keepBookkeeping(object: KubeObject, old: KubeObject): void {
  const { labels, annotations, ownerReferences, finalizers, initializers } = object.metadata;
  const kept = old.metadata;
  const metadata: ObjectMeta = { name: kept.name, uid: kept.uid, creationTimestamp: kept.creationTimestamp };
  if (kept.generateName) metadata.generateName = kept.generateName;
  if (kept.namespace) metadata.namespace = kept.namespace;
  if (kept.generation) metadata.generation = kept.generation;
  if (kept.deletionTimestamp) metadata.deletionTimestamp = kept.deletionTimestamp;
  if (kept.deletionGracePeriodSeconds !== undefined) {
    metadata.deletionGracePeriodSeconds = kept.deletionGracePeriodSeconds;
  }
  if (labels) metadata.labels = labels;
  if (annotations) metadata.annotations = annotations;
  if (ownerReferences?.length) metadata.ownerReferences = ownerReferences;
  if (finalizers?.length) metadata.finalizers = finalizers;
  if (initializers) metadata.initializers = initializers;
  object.metadata = metadata;
}

/** A status in a replace is ignored, and so is everything else in a write of the status. */
function keepPart(object: any, old: any, part: Wish['part']): void {
  if (part === 'any') return;
  if (part === 'object') {
    if (old.status === undefined) delete object.status;
    else object.status = old.status;
    return;
  }
  for (const field of new Set([...Object.keys(object), ...Object.keys(old)])) {
    if (field === 'status' || field === 'metadata') continue;
    if (old[field] === undefined) delete object[field];
    else object[field] = old[field];
  }
}

/** What says the same as before is the very same from here on: it need not be compared, encoded or kept twice. */
function shareUnchanged(object: any, old: any): void {
  for (const field in object) {
    const value = object[field];
    if (field === 'metadata' || typeof value !== 'object' || value === old[field]) continue;
    if (deepEqual(value, old[field])) object[field] = old[field];
  }
}

function countGeneration(kind: Kind, object: KubeObject, old: KubeObject): void {
  if (!kind.generation) return;
  const annotations = kind.generation === 'annotations';
  if (sameDesire(object, old) && (!annotations || deepEqual(object.metadata.annotations, old.metadata.annotations)))
    return;
  object.metadata.generation = (old.metadata.generation ?? 0) + 1;
}

function sameDesire(object: any, old: any): boolean {
  for (const field of new Set([...Object.keys(object), ...Object.keys(old)])) {
    if (field === 'status' || field === 'metadata' || field === 'apiVersion' || field === 'kind') continue;
    if (!deepEqual(object[field], old[field])) return false;
  }
  return true;
}

function sameContent(object: any, old: any): boolean {
  const { resourceVersion: _, selfLink: __, ...metadata } = old.metadata;
  return deepEqual(object.metadata, metadata) && deepEqual(object.status, old.status) && sameDesire(object, old);
}

/** An object that was to be deleted and that nothing holds any more. */
export function isFinished(kind: Kind, object: any): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata;
  if (!deletionTimestamp || finalizers?.length) return false;
  if (kind.subresources?.others?.includes('finalize') && object.spec?.finalizers?.length) return false;
  return !deletionGracePeriodSeconds;
}

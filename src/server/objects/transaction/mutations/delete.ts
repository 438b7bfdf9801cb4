import type { Propagation } from '../../../../api/call.ts';
import { conflict } from '../../../../api/errors.ts';
import { MAX_TIME, timestamp } from '../../../../base/time/timestamp.ts';
import type { Kind, KubeObject } from '../../../../kinds/kind.ts';
import type { DeletePlan } from '../../body/delete-options.ts';
import type { Entry } from '../../cache/entry/entry.ts';
import type { Tools } from '../../ports.ts';
import type { ApiRequest, Resource } from '../../registry/registry.ts';
import { type Delete, ObjectDraft } from '../draft.ts';
import type { Writer } from '../ports.ts';
import { sameMetadata } from './comparison.ts';

type Ports = Pick<Writer, 'garbageCollection'> & Pick<Tools, 'clock'>;

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

/** Marks an object as being deleted. It is removed at once when neither a finalizer nor a grace period holds it. */
export function draftDelete(core: Ports, request: ApiRequest, mutation: Delete, current: Entry): ObjectDraft {
  const { kind } = request.resource;
  const old = current.hub(kind);
  checkDeletePreconditions(kind, old, mutation.plan);
  return new ObjectDraft(request, mutation, current.at, current, marked(core, request.resource, old, mutation.plan));
}

/** Throws a Conflict when the object does not match the preconditions of the delete. */
export function checkDeletePreconditions(kind: Kind, { metadata }: KubeObject, plan: DeletePlan): void {
  const resource = { group: kind.group, plural: kind.kind };
  if (plan.uid !== undefined && plan.uid !== metadata.uid) {
    throw conflict(
      resource,
      metadata.name ?? '',
      `the UID in the precondition (${plan.uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (plan.resourceVersion !== undefined && plan.resourceVersion !== metadata.resourceVersion) {
    throw conflict(
      resource,
      metadata.name ?? '',
      `the ResourceVersion in the precondition (${plan.resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    );
  }
}

/** Reports whether a delete changes nothing, because the object is being deleted already. */
export function isUnchangedDelete({ object, old }: ObjectDraft): boolean {
  return sameMetadata(object, old!);
}

/** Reports whether an object is being deleted and can be removed now. */
export function isDeletable(kind: Kind, object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata;
  if (!deletionTimestamp || finalizers?.length) return false;
  return !kind.termination?.isPending(object) && !deletionGracePeriodSeconds;
}

function marked(core: Ports, { kind, version }: Resource, old: KubeObject, plan: DeletePlan): KubeObject {
  const now = core.clock.now();
  const { selfLink: _, resourceVersion: __, ...metadata } = old.metadata;
  const object: KubeObject = { ...old, metadata };
  const finalizers = core.garbageCollection
    ? withCollectorFinalizers(metadata.finalizers ?? [], plan.propagation, version.orphansByDefault)
    : metadata.finalizers;
  if (finalizers?.length) metadata.finalizers = [...finalizers];
  else delete metadata.finalizers;
  if (!metadata.deletionTimestamp && metadata.generation) metadata.generation++;
  if (kind.termination) {
    metadata.deletionTimestamp ??= timestamp(now);
    kind.termination.begin(object);
    return object;
  }
  if (kind.gracePeriod) return withGrace(kind, object, { asked: plan.gracePeriodSeconds, now });
  metadata.deletionTimestamp ??= timestamp(now);
  metadata.deletionGracePeriodSeconds = 0;
  return object;
}

interface Grace {
  readonly asked: number | undefined;
  readonly now: number;
}

/** Sets the grace period. A running one can only be shortened. */
function withGrace(kind: Kind, object: KubeObject, { asked, now }: Grace): KubeObject {
  const { metadata } = object;
  const { deletionTimestamp, deletionGracePeriodSeconds: running } = metadata;
  if (!deletionTimestamp) {
    // The end must be a time that can be represented.
    const maxGrace = Math.floor((MAX_TIME - now) / 1000);
    const grace = Math.min(kind.gracePeriod?.(object, asked) ?? 0, maxGrace);
    metadata.deletionTimestamp = timestamp(now + grace * 1000);
    metadata.deletionGracePeriodSeconds = grace;
    return object;
  }
  if (running && asked !== undefined && asked < running) {
    const due = Date.parse(deletionTimestamp) - running * 1000 + asked * 1000;
    metadata.deletionTimestamp = timestamp(Math.max(due, now));
    metadata.deletionGracePeriodSeconds = due < now && asked !== 0 ? 1 : asked;
  }
  return object;
}

/** Sets the finalizers that tell the garbage collector what to do with the dependents. */
function withCollectorFinalizers(
  present: readonly string[],
  asked: Propagation | undefined,
  orphansByDefault: boolean,
): readonly string[] {
  const others = present.filter((each) => each !== ORPHAN && each !== FOREGROUND);
  switch (asked) {
    case 'Orphan':
      return [...others, ORPHAN];
    case 'Foreground':
      return [...others, FOREGROUND];
    case 'Background':
      return others;
    case undefined:
      if (others.length < present.length) return present;
      return orphansByDefault ? [...others, ORPHAN] : others;
  }
}

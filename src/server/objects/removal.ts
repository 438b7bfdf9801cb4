import { conflict, notFound } from '../../base/errors.ts';
import { timestamp } from '../../base/timestamp.ts';
import { deepEqual } from '../../base/tree.ts';
import type { Kind, KubeObject } from '../../kinds/kind.ts';
import { StoreConflict } from '../../store/store.ts';
import type { Propagation } from '../api.ts';
import { keyOf } from '../cache/keys.ts';
import type { Core } from '../core.ts';
import type { ApiRequest } from '../operation.ts';
import type { Resource } from '../registry.ts';
import { isFinished } from './change.ts';
import { commitObject, commitRemoval } from './commit.ts';
import type { DeletePlan } from './delete-options.ts';

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

export interface Removal {
  readonly namespace: string;
  readonly name: string;
  readonly plan: DeletePlan;
  /** The request whose delete is to be admitted; absent: it has been. */
  readonly request?: ApiRequest;
}

/** Deletes one object, or marks it as being deleted while somebody still has to let go of it. Answers what it was. */
export async function removeObject(core: Core, resource: Resource, at: Removal): Promise<KubeObject> {
  const { kind } = resource;
  const key = keyOf(kind, at.namespace, at.name);
  await core.cache.fresh();
  for (;;) {
    for (let busy = core.writing.get(key); busy; busy = core.writing.get(key)) await busy.catch(() => undefined);
    const current = core.cache.entry(key);
    if (!current) throw notFound(kind, at.name);
    const old = current.hub(kind);
    checkPreconditions(kind, old, at.plan);
    const admitting = at.request && admitted(core, at.request, { ...at, old });
    if (admitting) await admitting;
    const object = marked(core, resource, old, at.plan);
    if (at.plan.dryRun) return old;
    try {
      if (isFinished(kind, object)) await commitRemoval(core, current, core.allocation.onRemoval(kind, old));
      else if (!sameMarks(object, old)) {
        await commitObject(core, { at: current.at, kind, object, expect: current.revision });
      }
      return old;
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
      await core.cache.reached(error.revision);
    }
  }
}

function admitted(
  core: Core,
  request: ApiRequest,
  { name, plan, old }: Removal & { old: KubeObject },
): Promise<void> | undefined {
  const { resource } = request;
  const opening = { operation: 'DELETE', resource, name, object: undefined, old, dryRun: plan.dryRun } as const;
  return core.admission.open(core, request, opening)?.run();
}

export function checkPreconditions(kind: Kind, { metadata }: KubeObject, plan: DeletePlan): void {
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

/** The object with the marks of a deletion. */
function marked(core: Core, { kind, version }: Resource, old: KubeObject, plan: DeletePlan): KubeObject {
  const now = core.clock.now();
  const { selfLink: _, resourceVersion: __, ...metadata } = old.metadata;
  const object: KubeObject = { ...old, metadata };
  const collected = core.garbageCollection
    ? collectorFinalizers(metadata.finalizers ?? [], plan.propagation, version.orphansByDefault)
    : metadata.finalizers;
  if (collected?.length) metadata.finalizers = [...collected];
  else delete metadata.finalizers;
  if (!metadata.deletionTimestamp && metadata.generation) metadata.generation++;
  if (kind.subresources?.others?.includes('finalize')) {
    metadata.deletionTimestamp ??= timestamp(now);
    return { ...object, status: { ...(object as any).status, phase: 'Terminating' } } as KubeObject;
  }
  if (kind.gracePeriod) return withGrace(kind, object, { asked: plan.gracePeriodSeconds, now });
  metadata.deletionTimestamp ??= timestamp(now);
  metadata.deletionGracePeriodSeconds = 0;
  return object;
}

/** A grace period that runs can only be shortened. */
function withGrace(
  kind: Kind,
  object: KubeObject,
  { asked, now }: { asked: number | undefined; now: number },
): KubeObject {
  const { metadata } = object;
  const { deletionTimestamp, deletionGracePeriodSeconds: running } = metadata;
  if (!deletionTimestamp) {
    const grace = kind.gracePeriod?.(object, asked) ?? 0;
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

/** The finalizers through which the garbage collector learns what to do with the dependents. */
function collectorFinalizers(
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

function sameMarks(object: KubeObject, old: KubeObject): boolean {
  const { resourceVersion: _, selfLink: __, ...metadata } = old.metadata;
  return deepEqual(object.metadata, metadata);
}

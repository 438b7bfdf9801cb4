/** The status of a StatefulSet. */
import type { SeenPod } from '../../../api/seen-objects.ts';
import { isAvailable } from '../../shared/pods/availability.ts';
import type { SeenSet } from './identity.ts';
import { isRunningAndReady, type Members } from './members.ts';
import { nameOf, type Revisions, revisionOf } from './revisions.ts';

export interface StatusInput {
  /** Revisions; undefined when the set is being deleted: then the previous values stay. */
  readonly revisions: Revisions | undefined;
  readonly now: number;
}

export function statusOf(set: SeenSet, { present, condemned }: Members, { revisions, now }: StatusInput): object {
  const { metadata, spec, status } = set;
  const pods = [...present, ...condemned].map(({ pod }) => pod);
  const ready = pods.filter(isRunningAndReady);
  const available = ready.filter((pod) => isAvailable(pod, spec.minReadySeconds ?? 0, now));
  const current = revisions ? nameOf(revisions.current) : status.currentRevision;
  const update = revisions ? nameOf(revisions.update) : status.updateRevision;
  const updated = countOf(pods, update);
  const isComplete =
    spec.updateStrategy.type === 'RollingUpdate' &&
    updated === spec.replicas &&
    ready.length === spec.replicas &&
    pods.length === spec.replicas;
  return {
    ...status,
    observedGeneration: metadata.generation,
    replicas: pods.length,
    readyReplicas: shown(ready.length),
    availableReplicas: available.length,
    currentReplicas: shown(isComplete ? updated : countOf(pods, current)),
    updatedReplicas: shown(updated),
    currentRevision: isComplete ? update : current,
    updateRevision: update,
    collisionCount: revisions?.collisions ?? status.collisionCount,
  };
}

/** Pods of the revision that are not terminating. */
const countOf = (pods: readonly SeenPod[], revision: string | undefined) =>
  pods.filter((pod) => !pod.metadata.deletionTimestamp && revisionOf(pod) === revision).length;

/** Zero is omitted. */
const shown = (count: number) => count || undefined;

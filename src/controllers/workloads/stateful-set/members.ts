/** The pods of a StatefulSet by ordinal. */
import { isAvailable } from '../../shared/pods/availability.ts';
import { isReady } from '../../shared/pods/pod-life.ts';
import { ordinalOf, type SeenPod, type SeenSet } from './identity.ts';

/** An ordinal of the set, with its pod. */
export interface Replica {
  readonly ordinal: number;
  readonly pod: SeenPod | undefined;
}

/** A pod beyond the size of the set. */
export interface Condemned {
  readonly ordinal: number;
  readonly pod: SeenPod;
}

export interface Members {
  /** By ordinal, ascending. */
  readonly replicas: readonly Replica[];
  /** By ordinal, descending: the order of deletion. */
  readonly condemned: readonly Condemned[];
}

export function membersOf(set: SeenSet, pods: readonly SeenPod[]): Members {
  const start = set.spec.ordinals?.start ?? 0;
  const places = new Map<number, SeenPod>();
  const condemned: Condemned[] = [];
  for (const pod of pods) {
    const ordinal = ordinalOf(pod, set);
    if (ordinal === undefined) continue;
    if (ordinal >= start && ordinal < start + set.spec.replicas) places.set(ordinal, pod);
    else condemned.push({ ordinal, pod });
  }
  const replicas = Array.from({ length: set.spec.replicas }, (_, at) => {
    const ordinal = start + at;
    return { ordinal, pod: places.get(ordinal) };
  });
  return { replicas, condemned: condemned.sort((a, b) => b.ordinal - a.ordinal) };
}

export const isRunningAndReady = (pod: SeenPod) => pod.status.phase === 'Running' && isReady(pod);

/** Whether it is available and not being deleted. */
export function isUp(pod: SeenPod | undefined, { spec }: SeenSet, now: number): pod is SeenPod {
  if (!pod || pod.metadata.deletionTimestamp || !isRunningAndReady(pod)) return false;
  return isAvailable(pod, spec.minReadySeconds ?? 0, now);
}

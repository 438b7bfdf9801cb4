/** A StatefulSet's pods in their places. */
import { isAvailable } from '../../shared/pods/availability.ts';
import { isReady } from '../../shared/pods/pod-life.ts';
import { ordinalOf, type SeenPod, type SeenSet } from './identity.ts';

/** A place that the set has, with the pod that is there. */
export interface Replica {
  readonly ordinal: number;
  readonly pod: SeenPod | undefined;
}

/** A pod that the set has become too small for. */
export interface Condemned {
  readonly ordinal: number;
  readonly pod: SeenPod;
}

export interface Members {
  /** By ordinal, ascending. */
  readonly replicas: readonly Replica[];
  /** By ordinal, descending: the order in which they go. */
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

/** It serves, has done so long enough, and nobody has asked it to go. */
export function isUp(pod: SeenPod | undefined, { spec }: SeenSet, now: number): pod is SeenPod {
  if (!pod || pod.metadata.deletionTimestamp || !isRunningAndReady(pod)) return false;
  return isAvailable(pod, spec.minReadySeconds ?? 0, now);
}

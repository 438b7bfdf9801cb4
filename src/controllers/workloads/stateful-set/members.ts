/** The pods of a StatefulSet by ordinal. */
import type { SeenPod } from '../../../api/seen-objects.ts';
import { isAvailable } from '../../shared/pods/availability.ts';
import { isReady } from '../../shared/pods/pod-life.ts';
import { MAX_ORDINAL, ordinalOf, type SeenSet } from './identity.ts';

/** An ordinal of the set, with its pod. */
export interface Replica {
  readonly ordinal: number;
  readonly pod: SeenPod | undefined;
}

/** An existing pod. */
export interface Member {
  readonly ordinal: number;
  readonly pod: SeenPod;
}

/**
 * Pods of a StatefulSet by ordinal. A client may write any size: ordinals without a pod are never listed, only
 * enumerated (replicasOf).
 */
export interface Members {
  /** The first ordinal, and the one after the last. */
  readonly first: number;
  readonly end: number;
  /** Existing pods by ordinal, ascending. */
  readonly present: readonly Member[];
  /** Pods beyond the size of the set, by ordinal, descending: the order of deletion. */
  readonly condemned: readonly Member[];
}

export function membersOf(set: SeenSet, pods: readonly SeenPod[]): Members {
  const first = set.spec.ordinals?.start ?? 0;
  const end = Math.min(first + set.spec.replicas, MAX_ORDINAL + 1);
  const present: Member[] = [];
  const condemned: Member[] = [];
  for (const pod of pods) {
    const ordinal = ordinalOf(pod, set);
    if (ordinal === undefined) continue;
    (ordinal >= first && ordinal < end ? present : condemned).push({ ordinal, pod });
  }
  return {
    first,
    end,
    present: present.sort((a, b) => a.ordinal - b.ordinal),
    condemned: condemned.sort((a, b) => b.ordinal - a.ordinal),
  };
}

/**
 * Enumerates the ordinals of the set, ascending. Ordinals without a pod are left out while `wantsMissing` returns false;
 * without it, callers must stop by themselves: there may be two billion.
 */
export function* replicasOf({ first, end, present }: Members, wantsMissing = () => true): Iterable<Replica> {
  let next = first;
  for (const member of present) {
    for (; next < member.ordinal && wantsMissing(); next++) yield { ordinal: next, pod: undefined };
    yield member;
    next = member.ordinal + 1;
  }
  for (; next < end && wantsMissing(); next++) yield { ordinal: next, pod: undefined };
}

export const isRunningAndReady = (pod: SeenPod) => pod.status.phase === 'Running' && isReady(pod);

/** Reports whether the pod is available and not being deleted. */
export function isUp(pod: SeenPod | undefined, { spec }: SeenSet, now: number): pod is SeenPod {
  if (!pod || pod.metadata.deletionTimestamp || !isRunningAndReady(pod)) return false;
  return isAvailable(pod, spec.minReadySeconds ?? 0, now);
}

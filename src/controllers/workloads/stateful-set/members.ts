/** The pods of a StatefulSet by ordinal. */

import type { DeepReadonly } from '../../../api/object-types.ts';
import type { SeenPod } from '../../../api/seen-objects.ts';
import type { StatefulSet } from '../../../kinds/groups/apps/stateful-set.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { type Action, patch } from '../../loop/plan.ts';
import { isAvailable, isReady } from '../../shared/pods/pod-life.ts';

export type SeenSet = DeepReadonly<StatefulSet>;

const NAME_LABEL = 'statefulset.kubernetes.io/pod-name';
const INDEX_LABEL = 'apps.kubernetes.io/pod-index';

const ORDINAL = /^(.*)-(0|[1-9]\d{0,9})$/;

/** Ordinals are 32-bit integers. */
const MAX_ORDINAL = 2 ** 31 - 1;

export const podName = ({ metadata }: SeenSet, ordinal: number) => `${metadata.name}-${ordinal}`;

export function ordinalOf({ metadata }: SeenPod, set: SeenSet): number | undefined {
  const [, parent, ordinal] = ORDINAL.exec(metadata.name ?? '') ?? [];
  return parent === set.metadata.name && Number(ordinal) <= MAX_ORDINAL ? Number(ordinal) : undefined;
}

export const parentOf = (name: string): string | undefined => ORDINAL.exec(name)?.[1];

export const identityLabels = (name: string, ordinal: number) => ({
  [NAME_LABEL]: name,
  [INDEX_LABEL]: String(ordinal),
});

/** Restores the labels by which services find a pod. */
export function restoreIdentity({ metadata }: SeenPod, ordinal: number): readonly Action[] {
  const { name = '', uid, labels } = metadata;
  if (labels?.[NAME_LABEL] === name) return [];
  const changes = { metadata: { uid, labels: identityLabels(name, ordinal) } };
  return [patch(Pod, { metadata }, { type: 'merge', changes })];
}

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

/** Pods of a StatefulSet by ordinal. Ordinals without a pod may be very many, and are only enumerated (replicasOf). */
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

/** How far a pod is in its life, as the controllers of pods see it. */
import type { DeepReadonly } from '../../../client/object-types.ts';
import type { Pod } from '../../../kinds/groups/core/pod/pod.ts';

type SeenPod = DeepReadonly<Pod>;

/** It has ended for good. */
export function isTerminal({ status }: SeenPod): boolean {
  return status.phase === 'Succeeded' || status.phase === 'Failed';
}

/** It runs or will run, and nobody has asked it to go. */
export function isActive(pod: SeenPod): boolean {
  return !isTerminal(pod) && !pod.metadata.deletionTimestamp;
}

/** It was asked to go, and is still there. */
export function isTerminating(pod: SeenPod): boolean {
  return !isTerminal(pod) && pod.metadata.deletionTimestamp !== undefined;
}

export function isReady(pod: SeenPod): boolean {
  return readyTime(pod) !== undefined;
}

/** Since when it has been ready, in milliseconds; undefined when it is not, 0 when nobody noted the time. */
export function readySince(pod: SeenPod): number | undefined {
  const time = readyTime(pod);
  return time ? Date.parse(time) : time === '' ? 0 : undefined;
}

/** The same as it stands in the pod; empty when nobody noted it. */
export function readyTime({ status }: SeenPod): string | undefined {
  // Asked of thousands of pods in one plan, and more than once: a plain loop.
  for (const { type, status: holds, lastTransitionTime } of status.conditions ?? NONE) {
    if (type === 'Ready') return holds === 'True' ? (lastTransitionTime ?? '') : undefined;
  }
  return undefined;
}

const NONE: NonNullable<SeenPod['status']['conditions']> = [];

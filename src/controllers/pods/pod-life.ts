/** How far a pod is in its life, as the controllers of pods see it. */
import type { DeepReadonly } from '../../client/object-types.ts';
import type { Pod } from '../../kinds/core/pod.ts';

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

/** Since when it has been ready, in milliseconds; undefined when it is not, 0 when nobody noted the time. */
export function readySince({ status }: SeenPod): number | undefined {
  const condition = status.conditions?.find(({ type }) => type === 'Ready');
  if (condition?.status !== 'True') return undefined;
  return condition.lastTransitionTime ? Date.parse(condition.lastTransitionTime) : 0;
}

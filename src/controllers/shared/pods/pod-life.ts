/** The lifecycle of a pod, as controllers see it. */
import type { SeenPod } from '../../../api/seen-objects.ts';

/** Reports whether the pod has terminated for good. */
export function isTerminal({ status }: SeenPod): boolean {
  return status.phase === 'Succeeded' || status.phase === 'Failed';
}

/** Reports whether the pod is running or will run, and is not being deleted. */
export function isActive(pod: SeenPod): boolean {
  return !isTerminal(pod) && !pod.metadata.deletionTimestamp;
}

/** Reports whether the pod is being deleted. */
export function isTerminating(pod: SeenPod): boolean {
  return !isTerminal(pod) && pod.metadata.deletionTimestamp !== undefined;
}

export function isReady(pod: SeenPod): boolean {
  return readyTime(pod) !== undefined;
}

/** Since when it has been ready, in milliseconds; undefined when it is not ready, 0 when the time is unknown. */
export function readySince(pod: SeenPod): number | undefined {
  const time = readyTime(pod);
  return time ? Date.parse(time) : time === '' ? 0 : undefined;
}

/** Returns the time since which it has been ready as a timestamp; empty when it is unknown. */
export function readyTime({ status }: SeenPod): string | undefined {
  // Called for thousands of pods in a plan, and more than once: a plain loop.
  for (const { type, status: holds, lastTransitionTime } of status.conditions ?? NONE) {
    if (type === 'Ready') return holds === 'True' ? (lastTransitionTime ?? '') : undefined;
  }
  return undefined;
}

const NONE: NonNullable<SeenPod['status']['conditions']> = [];

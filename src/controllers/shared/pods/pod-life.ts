/** The lifecycle of a pod, as controllers see it. */
import type { SeenPod } from '../../../api/seen-objects.ts';
import { timestamp } from '../../../base/time/timestamp.ts';
import { type Action, requeueAfter } from '../../loop/plan.ts';

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

/**
 * Reports whether the pod has been ready for `minReadySeconds`; when the time is unknown, only 0 have certainly passed.
 * Timestamps are compared as strings: plans ask for thousands of pods.
 */
export function isAvailable(pod: SeenPod, minReadySeconds: number, now: number): boolean {
  const since = readyTime(pod);
  if (since === undefined) return false;
  return minReadySeconds === 0 || (since !== '' && since <= timestamp(now - minReadySeconds * 1000));
}

export function nextAvailable(pods: readonly SeenPod[], minReadySeconds: number, now: number): readonly Action[] {
  if (minReadySeconds === 0) return [];
  const passed = timestamp(now - minReadySeconds * 1000);
  let next: string | undefined;
  for (const pod of pods) {
    const since = readyTime(pod);
    if (since !== undefined && since > passed && (next === undefined || since < next)) next = since;
  }
  return next === undefined ? [] : [requeueAfter(Date.parse(next) + minReadySeconds * 1000 - now)];
}

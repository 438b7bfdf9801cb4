/**
 * Which pods are available, and when that changes with time. It is called for thousands of pods in a plan: timestamps are
 * compared as strings, whose order is that of the times.
 */

import type { SeenPod } from '../../../api/seen-objects.ts';
import { timestamp } from '../../../base/time/timestamp.ts';
import { type Action, requeueAfter } from '../../loop/plan.ts';
import { readyTime } from './pod-life.ts';

/** Whether it has been ready for so many seconds. With an unknown time, only 0 seconds have passed for sure. */
export function isAvailable(pod: SeenPod, minReadySeconds: number, now: number): boolean {
  const since = readyTime(pod);
  if (since === undefined) return false;
  return minReadySeconds === 0 || (since !== '' && since <= timestamp(now - minReadySeconds * 1000));
}

/** Plans again when the next pod becomes available. */
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

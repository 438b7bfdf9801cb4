/**
 * Availability of pods, and when it changes with time. Plans ask for thousands of pods: timestamps are compared as
 * strings, which sort by time.
 */

import type { SeenPod } from '../../../api/seen-objects.ts';
import { timestamp } from '../../../base/time/timestamp.ts';
import { type Action, requeueAfter } from '../../loop/plan.ts';
import { readyTime } from './pod-life.ts';

/**
 * Reports whether the pod has been ready for `minReadySeconds`. When the time is unknown, only 0 seconds have certainly
 * passed.
 */
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

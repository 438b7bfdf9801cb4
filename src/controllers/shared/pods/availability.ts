/**
 * Which pods are available at a time, and when that changes by time alone. Plans for thousands of pods ask it of each: times
 * are compared as they stand in the objects, in one form in which the order of texts is that of times.
 */
import { timestamp } from '../../../base/timestamp.ts';
import type { DeepReadonly } from '../../../client/object-types.ts';
import type { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { type Action, requeueAfter } from '../../loop/plan.ts';
import { readyTime } from './pod-life.ts';

type SeenPod = DeepReadonly<Pod>;

/** It has been ready for so many seconds. Where nobody noted since when, only no time at all has passed for sure. */
export function isAvailable(pod: SeenPod, minReadySeconds: number, now: number): boolean {
  const since = readyTime(pod);
  if (since === undefined) return false;
  return minReadySeconds === 0 || (since !== '' && since <= timestamp(now - minReadySeconds * 1000));
}

/** Plans again when the next of them becomes available. */
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

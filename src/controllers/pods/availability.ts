/** Which pods are available at a time, and when that changes by time alone. */
import type { DeepReadonly } from '../../client/object-types.ts';
import type { Pod } from '../../kinds/core/pod.ts';
import { type Action, requeueAfter } from '../plan.ts';
import { readySince } from './pod-life.ts';

type SeenPod = DeepReadonly<Pod>;

export function isAvailable(pod: SeenPod, minReadySeconds: number, now: number): boolean {
  return (availableFrom(pod, minReadySeconds) ?? Number.POSITIVE_INFINITY) <= now;
}

/** Plans again when the next of them becomes available. */
export function nextAvailable(pods: readonly SeenPod[], minReadySeconds: number, now: number): readonly Action[] {
  if (minReadySeconds === 0) return [];
  let next = Number.POSITIVE_INFINITY;
  for (const pod of pods) {
    const from = availableFrom(pod, minReadySeconds);
    if (from !== undefined && from > now && from < next) next = from;
  }
  return next === Number.POSITIVE_INFINITY ? [] : [requeueAfter(next - now)];
}

/**
 * When it counts, or began to count, as available: it has been ready for so many seconds. Undefined when that is not in
 * sight.
 */
function availableFrom(pod: SeenPod, minReadySeconds: number): number | undefined {
  const since = readySince(pod);
  if (since === undefined || minReadySeconds === 0) return since;
  return since === 0 ? undefined : since + minReadySeconds * 1000;
}

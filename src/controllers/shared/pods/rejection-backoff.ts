/**
 * Back-off before pods are created in the place of those that nodes rejected. The scheduler does not know everything that a node
 * rejects pods for, and would send the next one to the same node, without end.
 */
import type { DeepReadonly } from '../../../api/object-types.ts';
import type { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { isRejected } from '../../../kinds/shapes/pod/rejection.ts';

const INITIAL_DELAY_MS = 1_000;
const MAX_DELAY_MS = 5 * 60_000;
/** Rejections longer ago than this have nothing to do with the present ones. */
const FORGET_AFTER_MS = 2 * MAX_DELAY_MS;

/**
 * Returns the milliseconds to wait. Pods have been rejected for a time: as long again passes before the next attempt, so that the
 * distances double, however many pods each attempt has.
 */
export function rejectionWait(pods: readonly DeepReadonly<Pod>[], now: number): number {
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const pod of pods) {
    if (!isRejected(pod)) continue;
    const created = Date.parse(pod.metadata.creationTimestamp ?? '');
    if (!(now - created <= FORGET_AFTER_MS)) continue;
    first = Math.min(first, created);
    last = Math.max(last, created);
  }
  if (last < first) return 0;
  const delay = Math.min(Math.max(last - first, INITIAL_DELAY_MS), MAX_DELAY_MS);
  return Math.max(0, last + delay - now);
}

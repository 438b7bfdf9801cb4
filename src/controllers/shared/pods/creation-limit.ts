/**
 * Limits the pods that controllers create while others wait for a node: clients choose the size of a workload, and pods
 * without room fill the store and the memory of every watcher.
 */

import type { DeepReadonly } from '../../../api/object-types.ts';
import { memoized } from '../../../base/collections/memoized.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { isRejected } from '../../../kinds/shapes/pod/rejection.ts';
import type { Listers } from '../../loop/define.ts';
import { type Action, requeueAfter } from '../../loop/plan.ts';

/** Maximum number of pods without a node in a namespace, and of characters in all their templates. */
export const MAX_WAITING_PODS = 5_000;
const MAX_WAITING_CHARACTERS = 64 * 1024 * 1024;

export const ROOM_CHECK_MS = 1_000;

const NONE: readonly string[] = [];

/** An index: pods without a node, by namespace. */
const waitingPods = ({ metadata, spec }: DeepReadonly<Pod>): readonly string[] =>
  spec.nodeName ? NONE : [metadata.namespace ?? ''];

/** Returns how many more pods of the template may be created now. */
export function roomForPods(template: object, namespace: string | undefined, { of }: Listers): number {
  const waiting = of(Pod).by(waitingPods, namespace ?? '').length;
  const most = Math.min(MAX_WAITING_PODS, Math.ceil(MAX_WAITING_CHARACTERS / sizeOf(template)));
  return Math.max(0, most - waiting);
}

/** Requeues the key when there was no room for all pods. */
export const checkRoomLater = (room: number, wanted: number): readonly Action[] =>
  room < wanted ? [requeueAfter(ROOM_CHECK_MS)] : [];

const sizeOf = memoized((template: object): number => JSON.stringify(template).length);

const INITIAL_DELAY_MS = 1_000;
const MAX_DELAY_MS = 5 * 60_000;
/** Rejections longer ago than this have nothing to do with the present ones. */
const FORGET_AFTER_MS = 2 * MAX_DELAY_MS;

/**
 * Returns the milliseconds to wait before pods that nodes rejected are replaced: the scheduler would send them to the
 * same node. Pods have been rejected for a time: as long again passes, so that the distances double.
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

/** Updates pods of older templates: the last is deleted first, and recreated. */
import { magnitude } from '../../../kinds/shapes/meta/int-or-percent.ts';
import type { Action } from '../../loop/plan.ts';
import type { SeenSet } from './identity.ts';
import { isUp, type Member, type Members } from './members.ts';
import { removal } from './order.ts';
import { nameOf, type Revisions, revisionOf } from './revisions.ts';

/**
 * Deletes old pods from the partition on, as long as not too many of all are unavailable. A pod that is unavailable already
 * is no loss.
 */
export function rollUpdate(
  set: SeenSet,
  { first, end, present }: Members,
  { revisions, now }: { readonly revisions: Revisions; readonly now: number },
): readonly Action[] {
  const { type, rollingUpdate } = set.spec.updateStrategy;
  if (type !== 'RollingUpdate') return [];
  const update = nameOf(revisions.update);
  const up = present.filter(({ pod }) => isUp(pod, set, now)).length;
  let spare = maxUnavailable(set) - (end - first - up);
  const partition = first + (rollingUpdate?.partition ?? 0);
  const going: Member[] = [];
  for (const { ordinal, pod } of present.toReversed()) {
    if (ordinal < partition) break;
    if (pod.metadata.deletionTimestamp || revisionOf(pod) === update) continue;
    const isLoss = isUp(pod, set, now);
    if (isLoss && spare <= 0) continue;
    if (isLoss) spare--;
    going.push({ ordinal, pod });
  }
  return going.map((context) => removal(set, context));
}

/** A percentage is rounded up. */
function maxUnavailable({ spec }: SeenSet): number {
  const { maxUnavailable: limit = 1 } = spec.updateStrategy.rollingUpdate ?? {};
  return typeof limit === 'number' ? limit : Math.max(1, Math.ceil((magnitude(limit) * spec.replicas) / 100));
}

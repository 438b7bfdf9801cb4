/** Clears the DisruptionTarget condition of a pod that was not disrupted after a while. */

import type { Draft } from '../../../api/object-types.ts';
import type { SeenPod } from '../../../api/seen-objects.ts';
import { keyOf } from '../../../client/informer/object-cache.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { type Controller, defineController, related, type Snapshot } from '../../loop/define.ts';
import { type Plan, requeueAfter, updateStatus } from '../../loop/plan.ts';
import { withConditions } from '../../shared/conditions.ts';
import { isTerminal } from '../../shared/pods/pod-life.ts';

const STALE_AFTER_MS = 120_000;

export const staleDisruptionController: Controller = defineController<never>({
  name: 'stale-disruption',
  account: 'disruption-controller',
  // Only pods with the condition, which are few.
  also: [related(Pod, (pod) => (targetOf(pod) ? [keyOf(pod)] : []))],
  plan: planStaleTarget,
});

function planStaleTarget(_: undefined, { key, of }: Pick<Snapshot, 'key' | 'of'>, now: Date): Plan {
  const pod = of(Pod).get(key.name, key.namespace);
  const target = pod && targetOf(pod);
  if (!target) return [];
  const left = Date.parse(target.lastTransitionTime ?? '') + STALE_AFTER_MS - now.getTime();
  if (left > 0) return [requeueAfter(left)];
  const conditions = withConditions(pod.status.conditions, [{ type: 'DisruptionTarget', status: 'False' }], now);
  return [updateStatus(Pod, { ...pod, status: { ...pod.status, conditions } } as Draft<Pod>)];
}

/** A condition that the node itself set is never stale. */
function targetOf(pod: SeenPod) {
  if (pod.metadata.deletionTimestamp || isTerminal(pod)) return undefined;
  return pod.status.conditions?.find(
    ({ type, status, reason }) => type === 'DisruptionTarget' && status === 'True' && reason !== 'TerminationByKubelet',
  );
}

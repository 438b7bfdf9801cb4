/** A pod that was about to be disrupted, and was not, says so no more after a while. */
import { keyOf } from '../../../client/informer/object-cache.ts';
import type { DeepReadonly, Draft } from '../../../client/object-types.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { type Controller, defineController, related, type Snapshot } from '../../loop/define.ts';
import { type Plan, requeueAfter, updateStatus } from '../../loop/plan.ts';
import { withConditions } from '../../shared/conditions.ts';
import { isTerminal } from '../../shared/pods/pod-life.ts';

/** In milliseconds. */
const STALE = 120_000;

type SeenPod = DeepReadonly<Pod>;

export const staleDisruptionController: Controller = defineController<never>({
  name: 'stale-disruption',
  account: 'disruption-controller',
  // Only pods of which it is said: they are few.
  also: [related(Pod, (pod) => (targetOf(pod) ? [keyOf(pod)] : []))],
  plan: planStaleTarget,
});

function planStaleTarget(_: undefined, { key, of }: Pick<Snapshot, 'key' | 'of'>, now: Date): Plan {
  const pod = of(Pod).get(key.name, key.namespace);
  const target = pod && targetOf(pod);
  if (!target) return [];
  const left = Date.parse(target.lastTransitionTime ?? '') + STALE - now.getTime();
  if (left > 0) return [requeueAfter(left)];
  const conditions = withConditions(pod.status.conditions, [{ type: 'DisruptionTarget', status: 'False' }], now);
  return [updateStatus(Pod, { ...pod, status: { ...pod.status, conditions } } as Draft<Pod>)];
}

/** Of a node's own doing it is never stale. */
function targetOf(pod: SeenPod) {
  if (pod.metadata.deletionTimestamp || isTerminal(pod)) return undefined;
  return pod.status.conditions?.find(
    ({ type, status, reason }) => type === 'DisruptionTarget' && status === 'True' && reason !== 'TerminationByKubelet',
  );
}

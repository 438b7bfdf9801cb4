/** Deletes pods that do not tolerate a NoExecute taint of their node, each when its toleration expires. */

import type { Draft } from '../../../api/object-types.ts';
import type { SeenNode, SeenPod } from '../../../api/seen-objects.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import { keyOf } from '../../../client/informer/object-cache.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { tolerationOf } from '../../../kinds/placement/tolerations.ts';
import { type Controller, defineController, related, type Snapshot } from '../../loop/define.ts';
import { type Action, event, type Plan, remove, requeueAfter, updateStatus } from '../../loop/plan.ts';
import { withConditions } from '../../shared/conditions.ts';
import { podsByNode } from '../../shared/pods/pod-indexes.ts';

type Taint = NonNullable<SeenNode['spec']['taints']>[number];

/** Since when the pod's toleration has been running, in milliseconds; undefined when it has not. */
type Countdown = { readonly since: number | undefined };

export function taintEvictionController(): Controller {
  const counting = new Map<string, { readonly uid: string | undefined; readonly since: number }>();
  return defineController<never, Countdown>({
    name: 'taint-eviction',
    account: 'node-controller',
    component: 'taint-eviction-controller',
    // Pods of nodes without such taints, which are most, are never planned for.
    also: [
      related(
        Node,
        ({ metadata }, { of }) =>
          of(Pod)
            .by(podsByNode, metadata.name ?? '')
            .map(keyOf),
        (node, old) => deepEqual(taintsOf(node), taintsOf(old)),
      ),
      related(Pod, (pod, { of }) => {
        const node = pod.spec.nodeName ? of(Node).get(pod.spec.nodeName) : undefined;
        return counting.has(keyOf(pod)) || (node && taintsOf(node).length > 0) ? [keyOf(pod)] : [];
      }),
    ],
    async observe(_, { key, of }, { now }) {
      const text = `${key.namespace}/${key.name}`;
      const pod = of(Pod).get(key.name, key.namespace);
      const node = pod && of(Node).get(pod.spec.nodeName ?? '');
      const known = counting.get(text);
      const { uid } = pod?.metadata ?? {};
      const since = known && known.uid === uid ? known.since : undefined;
      const isCounted = pod && node && endOf(pod, taintsOf(node), 0) !== undefined;
      if (isCounted) counting.set(text, { uid, since: since ?? now.getTime() });
      else counting.delete(text);
      return { since };
    },
    plan: planTaintEviction,
  });
}

const NONE: readonly Taint[] = [];

const taintsOf = ({ spec }: SeenNode): readonly Taint[] =>
  spec.taints?.filter(({ effect }) => effect === 'NoExecute') ?? NONE;

export function planTaintEviction(
  _: undefined,
  { key, of, observed }: Pick<Snapshot<Countdown>, 'key' | 'of' | 'observed'>,
  now: Date,
): Plan {
  const pod = of(Pod).get(key.name, key.namespace);
  if (!pod || pod.metadata.deletionTimestamp) return [];
  const node = of(Node).get(pod.spec.nodeName ?? '');
  const time = now.getTime();
  const end = node && endOf(pod, taintsOf(node), observed.since ?? time);
  const name = keyOf(pod);
  if (end === undefined) {
    const isCancelled = observed.since !== undefined;
    return isCancelled ? [event(pod, 'Normal', REASON, `Cancelling deletion of Pod ${name}`)] : [];
  }
  if (end > time) return [requeueAfter(end - time)];
  return [event(pod, 'Normal', REASON, `Marking for deletion Pod ${name}`), ...marked(pod, now), remove(Pod, pod)];
}

const REASON = 'TaintManagerEviction';

/**
 * Returns when the pod must be deleted; undefined when it may stay. The time runs from when the taint was added, or from the
 * start of a later pod; where the taint has no time, from `since`.
 */
function endOf(pod: SeenPod, taints: readonly Taint[], since: number): number | undefined {
  if (taints.length === 0) return undefined;
  const tolerations = pod.spec.tolerations ?? [];
  let seconds = Number.POSITIVE_INFINITY;
  let added = Number.POSITIVE_INFINITY;
  for (const taint of taints) {
    const used = tolerationOf(taint, tolerations);
    if (!used) return 0;
    seconds = Math.min(seconds, used.tolerationSeconds ?? seconds);
    added = Math.min(added, taint.timeAdded ? Date.parse(taint.timeAdded) : since);
  }
  if (seconds === Number.POSITIVE_INFINITY) return undefined;
  const placed = Date.parse(pod.status.startTime ?? pod.metadata.creationTimestamp ?? '') || 0;
  return Math.max(added, placed) + Math.max(0, seconds) * 1000;
}

function marked(pod: SeenPod, now: Date): Action[] {
  const target = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByTaintManager',
    message: 'Taint manager: deleting due to NoExecute taint',
  };
  const status = { ...pod.status, conditions: withConditions(pod.status.conditions, [target], now) };
  return [updateStatus(Pod, { ...pod, status } as Draft<Pod>)];
}

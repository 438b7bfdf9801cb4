import type { SeenPod } from '../../../api/seen-objects.ts';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import { keyOf } from '../../../client/informer/object-cache.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { type Controller, defineController, related, type Snapshot } from '../../loop/define.ts';
import { type Action, type Plan, patchStatus, remove, requeueAfter } from '../../loop/plan.ts';
import { type Condition, holds, withConditions } from '../../shared/conditions.ts';
import { podsByNode } from '../../shared/pods/pod-indexes.ts';
import { isTerminal } from '../../shared/pods/pod-life.ts';

/** Grace period before the pods of a missing node are deleted. */
const NODE_GRACE_MS = 40_000;
/** Minimum age of a pod to delete: a controller that recreates it at once must not be in a tight loop with this one. */
const MIN_POD_AGE_MS = 20_000;
const MAX_TERMINATED_PODS = 12_500;
const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

/** Keys are names of nodes. */
export function orphanedPodsController(): Controller {
  const missing = new Map<string, number>();
  return defineController<Node, number | undefined>({
    name: 'orphaned-pods',
    account: 'pod-garbage-collector',
    component: 'pod-garbage-collector',
    watches: Node,
    also: [
      related(
        Pod,
        ({ spec }, { of }) => (spec.nodeName && !of(Node).get(spec.nodeName) ? [spec.nodeName] : []),
        (pod, old) => pod.spec.nodeName === old.spec.nodeName,
      ),
    ],
    /** Returns since when the node has been missing, if it is. The server is asked before pods are deleted. */
    async observe(node, { key, of }, { client, signal, now }) {
      if (node || of(Pod).by(podsByNode, key.name).length === 0) {
        missing.delete(key.name);
        return undefined;
      }
      const since = getOrInsert(missing, key.name, () => now.getTime());
      if (now.getTime() < since + NODE_GRACE_MS) return since;
      return (await client.of(Node).find(key.name, { signal })) ? undefined : since;
    },
    plan: planOrphanedPods,
  });
}

function planOrphanedPods(
  _: unknown,
  { key, of, observed: since }: Pick<Snapshot<number | undefined>, 'key' | 'of' | 'observed'>,
  now: Date,
): Plan {
  if (since === undefined) return [];
  const left = since + NODE_GRACE_MS - now.getTime();
  if (left > 0) return [requeueAfter(left)];
  const reason = 'DeletionByPodGC';
  const target = { type: 'DisruptionTarget', status: 'True', reason, message: 'PodGC: node no longer exists' };
  const pods = of(Pod).by(podsByNode, key.name);
  const waits = pods.map((pod) => Date.parse(pod.metadata.creationTimestamp ?? '') + MIN_POD_AGE_MS - now.getTime());
  const soonest = waits.reduce((least, wait) => (wait > 0 ? Math.min(least, wait) : least), Number.POSITIVE_INFINITY);
  return [
    ...pods.filter((_, index) => !(waits[index]! > 0)).flatMap((pod) => ended(pod, [target], now)),
    ...(Number.isFinite(soonest) ? [requeueAfter(soonest)] : []),
  ];
}

/** Deletes terminating pods that no node will confirm. */
export const stuckPodsController: Controller = defineController<never>({
  name: 'stuck-pods',
  account: 'pod-garbage-collector',
  component: 'pod-garbage-collector',
  also: [
    related(Pod, (pod) => (pod.metadata.deletionTimestamp ? [keyOf(pod)] : [])),
    related(Node, ({ metadata, spec }, { of }) =>
      spec.taints?.some(({ key }) => key === OUT_OF_SERVICE)
        ? of(Pod)
            .by(podsByNode, metadata.name ?? '')
            .filter((pod) => pod.metadata.deletionTimestamp)
            .map(keyOf)
        : [],
    ),
  ],
  plan: planStuckPod,
});

export function planStuckPod(_: undefined, { key, of }: Pick<Snapshot, 'key' | 'of'>, now: Date): Plan {
  const pod = of(Pod).get(key.name, key.namespace);
  if (!pod?.metadata.deletionTimestamp || pod.metadata.deletionGracePeriodSeconds === 0) return [];
  if (!pod.spec.nodeName) return ended(pod, [], now);
  const node = of(Node).get(pod.spec.nodeName);
  const isGivenUp = node && !holds(node, 'Ready') && node.spec.taints?.some((taint) => taint.key === OUT_OF_SERVICE);
  return isGivenUp ? ended(pod, [], now) : [];
}

const ENDED = 'ended';
const terminal = (pod: SeenPod): readonly string[] => (isTerminal(pod) ? [ENDED] : []);

/** Uses a single key for all pods. */
export const endedPodsController: Controller = defineController<never>({
  name: 'ended-pods',
  account: 'pod-garbage-collector',
  component: 'pod-garbage-collector',
  also: [related(Pod, terminal, (pod, old) => isTerminal(pod) === isTerminal(old))],
  plan: (_, world) => planEndedPods(world),
});

/** Evicted pods first, then the oldest. */
export function planEndedPods({ of }: Pick<Snapshot, 'of'>, kept = MAX_TERMINATED_PODS): Plan {
  const pods = of(Pod)
    .by(terminal, ENDED)
    .filter(({ metadata }) => !metadata.deletionTimestamp);
  if (pods.length <= kept) return [];
  const rank = ({ metadata, status }: SeenPod) =>
    `${status.reason === 'Evicted' ? 0 : 1} ${metadata.creationTimestamp} ${metadata.name}`;
  const ranked = pods.map((pod) => ({ pod, rank: rank(pod) })).sort((a, b) => (a.rank < b.rank ? -1 : 1));
  return ranked.slice(0, pods.length - kept).map(({ pod }) => remove(Pod, pod, { gracePeriodSeconds: 0 }));
}

/** Marks the pod as failed, since no node reports how it ended, and deletes it without grace period. */
function ended(pod: SeenPod, conditions: readonly Condition[], now: Date): Action[] {
  const gone = remove(Pod, pod, { gracePeriodSeconds: 0 });
  if (isTerminal(pod)) return [gone];
  const { uid, resourceVersion } = pod.metadata;
  const status = {
    phase: 'Failed',
    ...(conditions.length > 0 ? { conditions: withConditions(pod.status.conditions, conditions, now) } : {}),
  };
  return [patchStatus(Pod, pod, { type: 'merge', changes: { metadata: { uid, resourceVersion }, status } }), gone];
}

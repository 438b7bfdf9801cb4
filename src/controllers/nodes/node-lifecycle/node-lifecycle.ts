/**
 * Monitors the health of nodes. A node that is silent for too long gets unknown conditions, its pods are no longer ready, and
 * taints keep new pods away and finally evict the old ones (see taint-eviction).
 */

import type { Draft } from '../../../api/object-types.ts';
import type { SeenNode } from '../../../api/seen-objects.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import { timestamp } from '../../../base/time/timestamp.ts';
import { Lease } from '../../../kinds/groups/coordination/lease.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { type Controller, defineController, type Listers, related, type Snapshot } from '../../loop/define.ts';
import { type Action, event, type Plan, patch, requeueAfter, updateStatus } from '../../loop/plan.ts';
import { podsByNode } from '../../shared/pods/pod-indexes.ts';
import { isReady } from '../../shared/pods/pod-life.ts';
import {
  evictingTaint,
  type Heartbeat,
  isEvicting,
  lostFrom,
  readyCondition,
  recordHeartbeat,
  taintsOf,
} from './health.ts';
import { EvictionRateLimiter, surveyZones, type Zones, zoneOf } from './zones.ts';

const LEASES = 'kube-node-lease';

const CHECK_INTERVAL_MS = 5000;

interface NodeObservation {
  readonly heartbeat: Heartbeat;
  readonly isNew: boolean;
  /** Milliseconds until the node's pods may be evicted; undefined when they need not be. */
  readonly evictionIn: number | undefined;
  readonly isAllLost: boolean;
  /** True when the node has become not ready, and its pods are still to be marked. */
  readonly isToMarkPods: boolean;
}

type Observed = NodeObservation | { readonly gone: SeenNode } | undefined;

export function nodeLifecycleController(): Controller {
  const memory = new NodeMemory();
  return defineController<Node, Observed>({
    name: 'node',
    account: 'node-controller',
    component: 'node-controller',
    watches: Node,
    also: [
      // A changed lease duration matters at once; a renewal is noticed when it would have been missed.
      related(
        Lease,
        ({ metadata }) => (metadata.namespace === LEASES ? [metadata.name ?? ''] : []),
        (lease, old) => lease.spec.leaseDurationSeconds === old.spec.leaseDurationSeconds,
      ),
      // Read when the node changes. A pod that its agent reports as ready meanwhile stays so: the agent knows better.
      related(Pod, () => []),
    ],
    observe: async (node, world, { now }) => memory.watch(node, world, now.getTime()),
    plan: planNode,
  });
}

const isUnhealthy = (node: SeenNode) => {
  const ready = readyCondition(node);
  return ready !== undefined && ready.status !== 'True';
};

interface KnownNode {
  readonly node: SeenNode;
  readonly heartbeat: Heartbeat;
  /** The transition to not ready for which the last plan has marked the pods. */
  readonly marked: string | undefined;
}

/** Returns what distinguishes this time of being not ready from others; undefined when the node is ready, or new. */
function transitionToUnready(node: SeenNode): string | undefined {
  const { status, lastTransitionTime = '' } = (isUnhealthy(node) && readyCondition(node)) || {};
  return status === undefined ? undefined : `${status} ${lastTransitionTime}`;
}

/** State that is kept between plans. It is lost on a restart, which gives every node its full grace period. */
class NodeMemory {
  readonly #known = new Map<string, KnownNode>();
  readonly #pace = new EvictionRateLimiter();
  #zones: { readonly at: number; readonly zones: Zones } | undefined;

  watch(node: SeenNode | undefined, world: Pick<Snapshot, 'key' | 'of' | 'failures'>, now: number): Observed {
    const { name } = world.key;
    const before = this.#known.get(name);
    if (!node) {
      this.#known.delete(name);
      return before && { gone: before.node };
    }
    const same = before?.node.metadata.uid === node.metadata.uid ? before : undefined;
    const heartbeat = recordHeartbeat(same?.heartbeat, { node, lease: leaseOf(node, world), now });
    const transition = transitionToUnready(node);
    const isMarked = same?.marked === transition && world.failures.length === 0;
    this.#known.set(name, { node, heartbeat, marked: transition });
    const zones = evictingTaint(node) === undefined ? undefined : this.#survey(world, now);
    const isAsked = zones && !zones.isAllLost && !isEvicting(node);
    return {
      heartbeat,
      isNew: !same,
      evictionIn: isAsked ? this.#evictionIn(node, zones, now) : undefined,
      isAllLost: zones?.isAllLost ?? false,
      isToMarkPods: transition !== undefined && !isMarked,
    };
  }

  /** Nodes that are lost together are first seen together. */
  #evictionIn(node: SeenNode, zones: Zones, now: number): number {
    const since = Date.parse(readyCondition(node)?.lastTransitionTime ?? '') || 0;
    const left = since + CHECK_INTERVAL_MS - now;
    return left > 0 ? left : this.#pace.waitTime(zoneOf(node), zones, now);
  }

  /** Surveys zones at most once a second, which suffices for thousands of nodes that are lost together. */
  #survey({ of }: Listers, now: number): Zones {
    if (!this.#zones || now - this.#zones.at >= 1000 || now < this.#zones.at) {
      this.#zones = { at: now, zones: surveyZones(of(Node).list()) };
    }
    return this.#zones.zones;
  }
}

const leaseOf = ({ metadata }: SeenNode, { of }: Listers) => of(Lease).get(metadata.name ?? '', LEASES);

function planNode(node: SeenNode | undefined, world: Pick<Snapshot<Observed>, 'of' | 'observed'>, now: Date): Plan {
  const { observed } = world;
  if (!observed) return [];
  if ('gone' in observed) return [nodeEvent(observed.gone, 'RemovingNode', 'Removing Node', 'from')];
  if (!node) return [];
  const greeting = observed.isNew ? [nodeEvent(node, 'RegisteredNode', 'Registered Node', 'in')] : [];
  const lostIn = lostFrom(observed.heartbeat, node, leaseOf(node, world)) - now.getTime();
  if (lostIn <= 0 && isKnown(node)) return [...greeting, ...markUnknown(node, now)];
  const { evictionIn } = observed;
  return [
    ...greeting,
    ...updateTaints(node, observed, now),
    ...(observed.isToMarkPods ? podsNotReady(node, world, now) : []),
    ...(lostIn > 0 ? [requeueAfter(lostIn)] : []),
    // The handling of an unhealthy node depends on the other nodes.
    ...(isUnhealthy(node) ? [requeueAfter(Math.min(evictionIn || CHECK_INTERVAL_MS, CHECK_INTERVAL_MS))] : []),
  ];
}

function nodeEvent(node: SeenNode, reason: string, what: string, where: string): Action {
  const { name } = node.metadata;
  const message = `Node ${name} event: ${what} ${name} ${where} Controller`;
  return event({ ...node, apiVersion: 'v1', kind: 'Node' }, 'Normal', reason, message);
}

const CONDITIONS = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

const isKnown = ({ status }: SeenNode) =>
  CONDITIONS.some((type) => status.conditions?.find((each) => each.type === type)?.status !== 'Unknown');

function markUnknown(node: SeenNode, now: Date): Action[] {
  const lastTransitionTime = timestamp(now);
  const known = (node.status.conditions ?? []).map((condition) =>
    !CONDITIONS.includes(condition.type) || condition.status === 'Unknown'
      ? condition
      : {
          ...condition,
          status: 'Unknown',
          reason: 'NodeStatusUnknown',
          message: 'Kubelet stopped posting node status.',
          lastTransitionTime,
        },
  );
  const never = CONDITIONS.filter((type) => !known.some((condition) => condition.type === type)).map((type) => ({
    type,
    status: 'Unknown',
    reason: 'NodeStatusNeverUpdated',
    message: 'Kubelet never posted node status.',
    lastHeartbeatTime: node.metadata.creationTimestamp,
    lastTransitionTime,
  }));
  const status = { ...node.status, conditions: [...known, ...never] };
  const { name } = node.metadata;
  const wasReady = readyCondition(node)?.status === 'True';
  return [
    updateStatus(Node, { ...node, status } as Draft<Node>),
    ...(wasReady ? [event(node, 'Normal', 'NodeNotReady', `Node ${name} status is now: NodeNotReady`)] : []),
  ];
}

/** A taint for the other reason is replaced at once; a new one waits for its turn. */
function updateTaints(node: SeenNode, { evictionIn, isAllLost }: NodeObservation, now: Date): Action[] {
  const wanted = isAllLost ? undefined : evictingTaint(node);
  const evicting = wanted && (isEvicting(node) || evictionIn === 0) ? wanted : undefined;
  const taints = taintsOf(node, evicting, timestamp(now));
  if (deepEqual(taints, node.spec.taints ?? [])) return [];
  const { resourceVersion } = node.metadata;
  const changes = { metadata: { resourceVersion }, spec: { taints: taints.length > 0 ? taints : null } };
  return [patch(Node, node, { type: 'merge', changes })];
}

function podsNotReady({ metadata }: SeenNode, { of }: Listers, now: Date): Action[] {
  return of(Pod)
    .by(podsByNode, metadata.name ?? '')
    .filter(isReady)
    .flatMap((pod) => {
      const conditions = pod.status.conditions?.map((condition) =>
        condition.type === 'Ready' ? { ...condition, status: 'False', lastTransitionTime: timestamp(now) } : condition,
      );
      return [
        updateStatus(Pod, { ...pod, status: { ...pod.status, conditions } } as Draft<Pod>),
        event(pod, 'Warning', 'NodeNotReady', 'Node is not ready'),
      ];
    });
}

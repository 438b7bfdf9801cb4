/**
 * Keeps an eye on nodes. One that is silent for too long is said to be unknown, its pods are not ready any more, and taints
 * keep new pods away and, in time, drive the old ones off (see taint-eviction).
 */

import { timestamp } from '../../../base/timestamp.ts';
import { deepEqual } from '../../../base/tree.ts';
import type { DeepReadonly, Draft } from '../../../client/object-types.ts';
import { Lease } from '../../../kinds/groups/coordination/lease.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { type Controller, defineController, type Listers, related, type Snapshot } from '../../loop/define.ts';
import { type Action, event, type Plan, patch, requeueAfter, updateStatus } from '../../loop/plan.ts';
import { isReady } from '../../shared/pods/pod-life.ts';
import { podsByNode } from '../../shared/pods/pods-by-node.ts';
import { type Heartbeat, listen, missedFrom, readyCondition } from './health.ts';
import { evictingTaint, isEvicting, taintsOf } from './taints.ts';
import { surveyZones, ZonePace, type Zones, zoneOf } from './zones.ts';

const LEASES = 'kube-node-lease';

/** How often nodes that are not well are looked at, in milliseconds. */
const PERIOD = 5000;

type SeenNode = DeepReadonly<Node>;

/** What was seen of a node. */
interface Watched {
  readonly heartbeat: Heartbeat;
  readonly isNew: boolean;
  /** How long until the node's pods may be driven off, in milliseconds; undefined when that is not asked for. */
  readonly evictionIn: number | undefined;
  readonly isAllLost: boolean;
}

export function nodeLifecycleController(): Controller {
  const memory = new Memory();
  return defineController<Node, Watched | { readonly gone: SeenNode } | undefined>({
    name: 'node',
    account: 'node-controller',
    component: 'node-controller',
    watches: Node,
    also: [
      // How long a lease lasts matters at once; that it was renewed is seen when it should have been.
      related(
        Lease,
        ({ metadata }) => (metadata.namespace === LEASES ? [metadata.name ?? ''] : []),
        (lease, old) => lease.spec.leaseDurationSeconds === old.spec.leaseDurationSeconds,
      ),
      related(Pod, ({ spec }, { of }) => {
        const node = spec.nodeName ? of(Node).get(spec.nodeName) : undefined;
        return node && isUnwell(node) ? [spec.nodeName as string] : [];
      }),
    ],
    observe: async (node, world, { now }) => memory.watch(node, world, now.getTime()),
    plan: planNode,
  });
}

const isUnwell = (node: SeenNode) => {
  const ready = readyCondition(node);
  return ready !== undefined && ready.status !== 'True';
};

/** What has to be remembered from plan to plan. A restart forgets it, and gives every node its time anew. */
class Memory {
  readonly #known = new Map<string, { readonly node: SeenNode; readonly heartbeat: Heartbeat }>();
  readonly #pace = new ZonePace();
  #zones: { readonly at: number; readonly zones: Zones } | undefined;

  watch(
    node: SeenNode | undefined,
    world: Pick<Snapshot, 'key' | 'of'>,
    now: number,
  ): Watched | { readonly gone: SeenNode } | undefined {
    const { name } = world.key;
    const before = this.#known.get(name);
    if (!node) {
      this.#known.delete(name);
      return before && { gone: before.node };
    }
    const same = before?.node.metadata.uid === node.metadata.uid ? before : undefined;
    const heartbeat = listen(same?.heartbeat, { node, lease: leaseOf(node, world), now });
    this.#known.set(name, { node, heartbeat });
    const zones = evictingTaint(node) === undefined ? undefined : this.#survey(world, now);
    const isAsked = zones && !zones.isAllLost && !isEvicting(node);
    return {
      heartbeat,
      isNew: !same,
      evictionIn: isAsked ? this.#evictionIn(node, zones, now) : undefined,
      isAllLost: zones?.isAllLost ?? false,
    };
  }

  /** Nodes that are lost together are seen together first. */
  #evictionIn(node: SeenNode, zones: Zones, now: number): number {
    const since = Date.parse(readyCondition(node)?.lastTransitionTime ?? '') || 0;
    const left = since + PERIOD - now;
    return left > 0 ? left : this.#pace.turn(zoneOf(node), zones, now);
  }

  /** Once a second is enough for thousands of nodes that are lost together. */
  #survey({ of }: Listers, now: number): Zones {
    if (!this.#zones || now - this.#zones.at >= 1000 || now < this.#zones.at) {
      this.#zones = { at: now, zones: surveyZones(of(Node).list()) };
    }
    return this.#zones.zones;
  }
}

const leaseOf = ({ metadata }: SeenNode, { of }: Listers) => of(Lease).get(metadata.name ?? '', LEASES);

function planNode(
  node: SeenNode | undefined,
  world: Pick<Snapshot<Watched | { readonly gone: SeenNode } | undefined>, 'of' | 'observed'>,
  now: Date,
): Plan {
  const { observed } = world;
  if (!observed) return [];
  if ('gone' in observed) return [told(observed.gone, 'RemovingNode', 'Removing Node', 'from')];
  if (!node) return [];
  const greeting = observed.isNew ? [told(node, 'RegisteredNode', 'Registered Node', 'in')] : [];
  const missed = missedFrom(observed.heartbeat, node, leaseOf(node, world)) - now.getTime();
  if (missed <= 0 && needsMarks(node)) return [...greeting, ...lost(node, now)];
  const { evictionIn } = observed;
  return [
    ...greeting,
    ...tainted(node, observed, now),
    ...(isUnwell(node) ? podsNotReady(node, world, now) : []),
    ...(missed > 0 ? [requeueAfter(missed)] : []),
    // What is done about a node that is not well depends on the others.
    ...(isUnwell(node) ? [requeueAfter(Math.min(evictionIn || PERIOD, PERIOD))] : []),
  ];
}

function told(node: SeenNode, reason: string, what: string, where: string): Action {
  const { name } = node.metadata;
  const message = `Node ${name} event: ${what} ${name} ${where} Controller`;
  return event({ ...node, apiVersion: 'v1', kind: 'Node' }, 'Normal', reason, message);
}

const CONDITIONS = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

const needsMarks = ({ status }: SeenNode) =>
  CONDITIONS.some((type) => status.conditions?.find((each) => each.type === type)?.status !== 'Unknown');

/** What the node said of itself is not known any more. */
function lost(node: SeenNode, now: Date): Action[] {
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

/** A taint that is there already for the other reason is exchanged at once; a new one waits for its turn. */
function tainted(node: SeenNode, { evictionIn, isAllLost }: Watched, now: Date): Action[] {
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

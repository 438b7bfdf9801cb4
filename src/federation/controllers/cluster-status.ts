/** The status of a member cluster after a health check. */

import type { DeepReadonly } from '../../api/object-types.ts';
import { timestamp } from '../../base/time/timestamp.ts';
import type { Node } from '../../kinds/groups/core/node/node.ts';
import type { Cluster } from '../../kinds/groups/federation/cluster.ts';

/** The nodes of the cluster, or why it did not answer, or why its objects cannot be read although it does. */
export type Probe =
  | { readonly nodes: readonly DeepReadonly<Node>[] }
  | { readonly error: Error; readonly isReachable?: boolean };

type Status = DeepReadonly<Cluster['status']>;
type Condition = NonNullable<Status['conditions']>[number];

const ZONE_LABELS = ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone'];
const REGION_LABELS = ['topology.kubernetes.io/region', 'failure-domain.beta.kubernetes.io/region'];

/** Returns `old` itself when nothing has changed but the time of the check. Zones and region stay known while it is away. */
export function clusterStatus(old: Status, probe: Probe, now: number): Status {
  const conditions = conditionsAfter(probe).map((condition) => dated(condition, old.conditions ?? [], timestamp(now)));
  const place = 'nodes' in probe ? placeOf(probe.nodes) : {};
  const next = { ...old, ...place, conditions };
  return summary(next) === summary(old) ? old : next;
}

const REACHABLE = {
  type: 'Offline',
  status: 'False',
  reason: 'ClusterReachable',
  message: 'cluster is reachable',
} as const;

function conditionsAfter(probe: Probe): readonly Condition[] {
  if ('nodes' in probe) {
    const message = 'the API server of the cluster answers';
    return [{ type: 'Ready', status: 'True', reason: 'ClusterReady', message }, REACHABLE];
  }
  const { message } = probe.error;
  if (probe.isReachable) return [{ type: 'Ready', status: 'False', reason: 'ClusterTooLarge', message }, REACHABLE];
  return [
    { type: 'Ready', status: 'False', reason: 'ClusterNotReachable', message },
    { type: 'Offline', status: 'True', reason: 'ClusterNotReachable', message: 'cluster is not reachable' },
  ];
}

/** The time of a transition stays while the status does. */
function dated(condition: Condition, old: readonly Condition[], now: string): Condition {
  const before = old.find(({ type }) => type === condition.type);
  const lastTransitionTime = before?.status === condition.status ? (before.lastTransitionTime ?? now) : now;
  return { ...condition, lastProbeTime: now, lastTransitionTime };
}

/** Returns all zones, and the region of the first node that has one. */
function placeOf(nodes: readonly DeepReadonly<Node>[]): Pick<Status, 'zones' | 'region'> {
  const labelOf = (node: DeepReadonly<Node>, names: readonly string[]) =>
    names.map((name) => node.metadata.labels?.[name]).find((value) => value);
  const zones = [...new Set(nodes.flatMap((node) => labelOf(node, ZONE_LABELS) ?? []))].sort();
  const region = nodes.map((node) => labelOf(node, REGION_LABELS)).find((found) => found);
  return { zones: zones.length > 0 ? zones : undefined, region: region || undefined };
}

const summary = ({ conditions = [], zones, region }: Status) =>
  JSON.stringify([
    conditions.map(({ type, status, reason, message }) => [type, status, reason, message]),
    zones,
    region,
  ]);

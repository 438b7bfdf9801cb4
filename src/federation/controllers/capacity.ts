/** Estimates the replicas that can run in a member: pods that have long waited for a node show that it is full. */

import type { AnyObject, DeepReadonly } from '../../api/object-types.ts';
import type { Client } from '../../client/client.ts';
import { Pod } from '../../kinds/groups/core/pod/pod.ts';

export interface Capacity {
  /** Number of replicas that can run; undefined when not known to be limited. */
  readonly replicas: number | undefined;
  /** Time until pods that are waiting now count as stuck, in milliseconds. */
  readonly lookAgainAfterMs?: number;
}

interface LookOptions {
  readonly client: Client;
  readonly signal: AbortSignal;
  readonly now: number;
  /** Waiting time of a pod after which there is no room for it. */
  readonly patienceMs: number;
}

/** Reads pods only while some are not ready. `replicas` is the desired number in the member. */
export async function capacityOf(
  object: DeepReadonly<AnyObject>,
  replicas: number,
  { client, signal, now, patienceMs }: LookOptions,
): Promise<Capacity> {
  const { spec, status, metadata } = object;
  const labels: Readonly<Record<string, string>> | undefined = spec?.selector?.matchLabels;
  if (!labels || (status?.readyReplicas ?? 0) >= replicas) return { replicas: undefined };
  const labelSelector = Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  const { items } = await client.of(Pod).in(metadata.namespace).list({ labelSelector, signal });
  const waiting = items.flatMap(waitingSince).map((since) => now - since);
  const stuck = waiting.filter((waited) => waited >= patienceMs).length;
  const fresh = waiting.filter((waited) => waited < patienceMs);
  return {
    replicas: stuck === 0 ? undefined : Math.max(0, replicas - stuck),
    lookAgainAfterMs: fresh.length === 0 ? undefined : patienceMs - Math.max(...fresh),
  };
}

/** Returns the time at which the scheduler first found no node for a pod. */
function waitingSince({ metadata, status }: DeepReadonly<Pod>): number[] {
  const condition = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  if (metadata.deletionTimestamp || condition?.status !== 'False' || condition.reason !== 'Unschedulable') return [];
  return [Date.parse(condition.lastTransitionTime ?? metadata.creationTimestamp ?? '')];
}

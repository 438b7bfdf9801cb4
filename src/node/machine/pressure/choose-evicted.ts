/** Chooses the pod that a node evicts: one that uses more than it requested, of low priority, that uses most. */
import { formatQuantity, parseQuantity, scaled } from '../../../base/quantity.ts';
import type { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { podAmounts } from '../../../kinds/quota/pods.ts';
import { isCritical } from '../../admission/critical.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import type { Observations } from '../observe.ts';
import { leastOf, RESOURCE_OF, type Threshold } from './thresholds.ts';

/** Resources that a pod uses. */
export interface PodConsumption {
  /** The working set, and what containers and volumes wrote, in bytes. */
  readonly memory: number;
  readonly disk: number;
  readonly processes: number;
  readonly containers: readonly { readonly name: string; readonly memory: number; readonly disk: number }[];
}

export interface Eviction {
  readonly pod: SeenPod;
  readonly reason: 'Evicted';
  readonly message: string;
}

export type ConsumptionOf = (pod: SeenPod) => PodConsumption | undefined;

/** Undefined when there is no pod that may go. Critical pods may not. */
export function chooseEvicted(
  pods: readonly SeenPod[],
  consumptionOf: ConsumptionOf,
  threshold: Threshold,
  observed: Observations,
): Eviction | undefined {
  const resource = RESOURCE_OF[threshold.signal];
  const ranked = pods
    .filter((pod) => !isCritical(pod) && pod.status.phase !== 'Failed' && pod.status.phase !== 'Succeeded')
    .map((pod) => ({ pod, rank: rankOf(pod, consumptionOf(pod), resource) }))
    .sort((a, b) => compare(a.rank, b.rank));
  const pod = ranked[0]?.pod;
  if (!pod) return undefined;
  return { pod, reason: 'Evicted', message: messageOf(pod, consumptionOf(pod), threshold, observed) };
}

/** Smaller comes first. */
type Rank = readonly number[];

function rankOf(pod: SeenPod, used: PodConsumption | undefined, resource: string): Rank {
  const priority = pod.spec.priority ?? 0;
  // A pod of which nothing is known goes first.
  if (!used) return [-1, priority, 0];
  if (resource === 'pids') return [0, priority, -used.processes];
  const usage = resource === 'memory' ? used.memory : used.disk;
  const above = usage - requestOf(pod, resource === 'memory' ? 'memory' : 'ephemeral-storage');
  return [above > 0 ? 0 : 1, priority, -above];
}

function compare(a: Rank, b: Rank): number {
  for (const [position, value] of a.entries()) {
    if (value !== b[position]) return value - b[position]!;
  }
  return 0;
}

function requestOf(pod: SeenPod, resource: string): number {
  const amount = podAmounts(pod as Pod, 'requests').get(resource);
  return amount ? Number(scaled(amount, 0)) : 0;
}

function messageOf(
  pod: SeenPod,
  used: PodConsumption | undefined,
  threshold: Threshold,
  observed: Observations,
): string {
  const resource = RESOURCE_OF[threshold.signal];
  const left = observed[threshold.signal];
  const amount = resource === 'memory' || resource === 'ephemeral-storage' ? binary : String;
  const parts = [
    `The node was low on resource: ${resource}. `,
    `Threshold quantity: ${amount(leastOf(threshold, left))}, available: ${amount(left.available)}. `,
  ];
  for (const container of used?.containers ?? []) {
    const usage =
      resource === 'memory' ? container.memory : resource === 'ephemeral-storage' ? container.disk : undefined;
    const spec = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].find(
      ({ name }) => name === container.name,
    );
    if (usage === undefined || !spec) continue;
    const requested = parseQuantity(spec.resources?.requests?.[resource] ?? '0');
    if (usage <= Number(scaled(requested, 0))) continue;
    parts.push(
      `Container ${container.name} was using ${binary(usage)}, request is ${formatQuantity(requested)}, has larger consumption of ${resource}. `,
    );
  }
  return parts.join('');
}

const binary = (bytes: number) =>
  formatQuantity({ mantissa: BigInt(Math.round(bytes)), exponent: 0, format: 'BinarySI' });

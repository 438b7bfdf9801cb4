/** Checks that a node has the resources that a pod requests. Processors count in millicores, all else in whole units. */
import { memoized } from '../../base/collections/memoized.ts';
import { parseQuantity, type Quantity, scaled } from '../../base/quantity.ts';
import type { Pod } from '../../kinds/groups/core/pod/pod.ts';
import { podAmounts } from '../../kinds/quota/pods.ts';
import { isExtended } from '../../kinds/shapes/pod/resource-names.ts';
import type { SeenPod } from '../pod/container-run.ts';
import type { Rejection, SeenNode } from './rejection.ts';

/** A resource that there is not enough of. */
export interface Shortage {
  readonly resource: string;
  readonly requested: number;
  readonly used: number;
  readonly capacity: number;
}

export type Requests = ReadonlyMap<string, number>;

const MILLI = 3;
const ORDER = ['cpu', 'memory', 'ephemeral-storage'];

/** Pods are immutable, and those of a node are summed up for every pod that comes to it. */
export const requestsOf = memoized((pod: SeenPod): Requests => {
  const amounts = new Map<string, number>();
  for (const [name, amount] of podAmounts(pod as Pod, 'requests')) amounts.set(name, amountOf(name, amount));
  return amounts;
});

const amountOf = (name: string, amount: Quantity) => Number(scaled(amount, name === 'cpu' ? MILLI : 0));

/** Returns the resources that pods of the node may use. */
const resourcesOf = ({ status }: SeenNode): Requests =>
  amountsIn((status.allocatable ?? status.capacity ?? NOTHING) as Readonly<Record<string, string>>);

const amountsIn = memoized(
  (list: Readonly<Record<string, string>>): Requests =>
    new Map(Object.entries(list).map(([name, text]) => [name, amountOf(name, parseQuantity(text))])),
);

const NOTHING = Object.freeze({});

/** In the order of kubelet: pods, processors, memory, storage, others. */
export function shortages(pod: SeenPod, node: SeenNode, others: readonly SeenPod[]): readonly Shortage[] {
  const has = resourcesOf(node);
  const found: Shortage[] = [];
  const pods = has.get('pods') ?? 0;
  if (others.length + 1 > pods) {
    found.push({ resource: 'pods', requested: 1, used: others.length, capacity: pods });
  }
  const wanted = [...requestsOf(pod)]
    // A resource of the whole cluster, of which nodes know nothing.
    .filter(([name, amount]) => amount > 0 && (has.has(name) || !isExtended(name)))
    .sort(([a], [b]) => rank(a) - rank(b));
  if (wanted.length === 0) return found;
  const used = totalOf(others);
  for (const [resource, requested] of wanted) {
    const [capacity, taken] = [has.get(resource) ?? 0, used.get(resource) ?? 0];
    if (requested > capacity - taken) found.push({ resource, requested, used: taken, capacity });
  }
  return found;
}

export function shortageRejection({ resource, requested, used, capacity }: Shortage): Rejection {
  const message = `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return { reason: `OutOf${resource}`, message };
}

function totalOf(pods: readonly SeenPod[]): Requests {
  const total = new Map<string, number>();
  for (const pod of pods) {
    for (const [name, amount] of requestsOf(pod)) total.set(name, (total.get(name) ?? 0) + amount);
  }
  return total;
}

const rank = (name: string) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);

/** How well a pod is treated when its node runs short, by what it asks for. */
import { addQuantities, compareQuantities, parseQuantity, type Quantity } from '../../base/quantity.ts';
import type { PodSpec } from './pod-spec.ts';
import type { ResourceRequirements } from './resources.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

const counted = ['cpu', 'memory'] as const;

/** Guaranteed asks for all it may use, BestEffort for nothing. Requests are expected to be filled in already. */
export function qosClass({ resources, containers, initContainers }: PodSpec): QosClass {
  const askers = resources
    ? [resources]
    : [...(containers ?? []), ...(initContainers ?? [])].map((container) => container.resources);
  const requests = total(askers, (each, name) => each.requests?.[name]);
  const limits = total(askers, (each, name) => each.limits?.[name]);
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  const allLimited = askers.every(
    (each) => (resources && !each.limits) || counted.every((name) => isPositive(each.limits?.[name])),
  );
  const same = counted.every((name) => sameAmount(requests.get(name), limits.get(name)));
  return allLimited && same ? 'Guaranteed' : 'Burstable';
}

function total(
  askers: readonly ResourceRequirements[],
  amountOf: (asker: ResourceRequirements, name: string) => string | undefined,
): Map<string, Quantity> {
  const sums = new Map<string, Quantity>();
  for (const name of counted) {
    for (const asker of askers) {
      const amount = amountOf(asker, name);
      if (!isPositive(amount)) continue;
      const quantity = parseQuantity(amount);
      const before = sums.get(name);
      sums.set(name, before ? addQuantities(before, quantity) : quantity);
    }
  }
  return sums;
}

function isPositive(amount: string | undefined): amount is string {
  return amount !== undefined && amount !== '0' && !amount.startsWith('-');
}

function sameAmount(a: Quantity | undefined, b: Quantity | undefined): boolean {
  return a && b ? compareQuantities(a, b) === 0 : a === b;
}

/** The QoS class of a pod, which decides in which order pods are evicted when a node runs out of resources. */
import { compareQuantities, parseQuantity } from '../../../base/quantity.ts';
import type { ResourceRequirements } from '../container/resources.ts';
import type { PodSpec } from './pod-spec.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

const counted = ['cpu', 'memory'] as const;

/** Guaranteed if requests equal limits, BestEffort without either. Default requests must already be set. */
export function qosClass({ resources, containers = [], initContainers = [] }: PodSpec): QosClass {
  const askers = resources ? [resources] : [...containers, ...initContainers].map((each) => each.resources);
  if (!askers.some(asksForSomething)) return 'BestEffort';
  return askers.every(asksForAll) ? 'Guaranteed' : 'Burstable';
}

function asksForSomething({ requests, limits }: ResourceRequirements): boolean {
  return counted.some((name) => isPositive(requests?.[name]) || isPositive(limits?.[name]));
}

function asksForAll({ requests, limits }: ResourceRequirements): boolean {
  return counted.every((name) => {
    const limit = limits?.[name];
    const request = requests?.[name];
    if (!isPositive(limit) || request === undefined) return false;
    return request === limit || compareQuantities(parseQuantity(request), parseQuantity(limit)) === 0;
  });
}

function isPositive(amount: string | undefined): amount is string {
  return amount !== undefined && amount !== '0' && !amount.startsWith('-');
}

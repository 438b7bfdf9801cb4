import type { EndpointNode } from './endpoint-node.ts';

/** Reports whether an address is one of the node or its pods, as the runtime says. No other is dialled for the server. */
export function isAddressOf(node: Pick<EndpointNode, 'addresses' | 'pods'>, address: string): boolean {
  if (node.addresses.includes(address)) return true;
  return [...node.pods()].some(({ state }) => state?.sandboxes.some(({ addresses }) => addresses.includes(address)));
}

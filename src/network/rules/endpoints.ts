/** Reads the endpoints of a service's ports from its slices. */
import type { DeepReadonly } from '../../client/object-types.ts';
import type { EndpointSlice as EndpointSliceObject } from '../../kinds/groups/discovery/endpoint-slice.ts';
import { canonicalAddress, type IpFamily } from './addresses.ts';
import type { Destination } from './rule-set.ts';

export type EndpointSlice = DeepReadonly<EndpointSliceObject>;

export interface Endpoint extends Destination {
  readonly isReady: boolean;
  readonly isServing: boolean;
  readonly isTerminating: boolean;
  readonly zones: readonly string[];
  readonly nodes: readonly string[];
}

/** The endpoints of the port with this name and protocol, ordered by address and port. */
export function endpointsOf(
  slices: readonly EndpointSlice[],
  port: { readonly name: string; readonly protocol: string; readonly family: IpFamily },
  node: string,
): readonly Endpoint[] {
  const found = new Map<string, Endpoint>();
  for (const { addressType, ports, endpoints } of slices) {
    if (addressType !== `IPv${port.family}`) continue;
    for (const each of ports) {
      if (!each.port || each.name !== port.name || each.protocol !== port.protocol) continue;
      for (const endpoint of endpoints) addEndpoint(found, endpoint, each.port, node);
    }
  }
  return [...found.values()].sort((a, b) => compare(a.address, b.address) || a.port - b.port);
}

function addEndpoint(
  found: Map<string, Endpoint>,
  { addresses, conditions, hints, nodeName }: EndpointSlice['endpoints'][number],
  port: number,
  node: string,
): void {
  const address = canonicalAddress(addresses[0] ?? '');
  if (address === undefined) return;
  const isTerminating = conditions.terminating === true;
  const key = `${address} ${port}`;
  // A pod that ends may have an address that another pod uses already: that one counts.
  if (found.has(key) && isTerminating) return;
  found.set(key, {
    ...{ address, port, isTerminating, isLocal: nodeName === node },
    isReady: conditions.ready !== false,
    isServing: conditions.serving !== false,
    zones: hints?.forZones?.map(({ name }) => name) ?? [],
    nodes: hints?.forNodes?.map(({ name }) => name) ?? [],
  });
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

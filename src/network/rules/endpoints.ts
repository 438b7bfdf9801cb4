/** Reads the endpoints of a service's ports from its slices. */
import type { DeepReadonly } from '../../api/object-types.ts';
import { getOrInsert } from '../../base/collections/get-or-insert.ts';
import type { EndpointSlice as EndpointSliceObject } from '../../kinds/groups/discovery/endpoint-slice.ts';
import { canonicalAddress, type IpFamily } from './addresses.ts';
import type { Destination, NodeFacts } from './rule-set.ts';

export type EndpointSlice = DeepReadonly<EndpointSliceObject>;

export interface Endpoint extends Destination {
  readonly isReady: boolean;
  readonly isServing: boolean;
  readonly isTerminating: boolean;
  readonly zones: readonly string[];
  readonly nodes: readonly string[];
}

interface WantedPort {
  readonly name: string;
  readonly protocol: string;
  readonly family: IpFamily;
}

/** Some endpoints, and one of their ports. */
interface Numbered {
  readonly port: number;
  readonly endpoints: EndpointSlice['endpoints'];
}

/** The slices of a service by their ports: both may have very many, and no port is searched in all slices. */
export class SlicePorts {
  readonly #found = new Map<string, Numbered[]>();

  constructor(slices: readonly EndpointSlice[]) {
    for (const { addressType, ports, endpoints } of slices) {
      for (const { name = '', protocol = '', port } of ports)
        if (port) this.#add(`${addressType} ${protocol} ${name}`, { port, endpoints });
    }
  }

  /** The endpoints of the port with this name and protocol, ordered by address and port. */
  endpointsOf({ name, protocol, family }: WantedPort, node: string): readonly Endpoint[] {
    const found = new Map<string, Endpoint>();
    for (const { port, endpoints } of this.#found.get(`IPv${family} ${protocol} ${name}`) ?? []) {
      for (const endpoint of endpoints) addEndpoint(found, endpoint, port, node);
    }
    return [...found.values()].sort((a, b) => compare(a.address, b.address) || a.port - b.port);
  }

  #add(key: string, numbered: Numbered): void {
    getOrInsert(this.#found, key, () => []).push(numbered);
  }
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
    address,
    port,
    isTerminating,
    isLocal: nodeName === node,
    isReady: conditions.ready !== false,
    isServing: conditions.serving !== false,
    zones: hints?.forZones?.map(({ name }) => name) ?? [],
    nodes: hints?.forNodes?.map(({ name }) => name) ?? [],
  });
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

interface ChosenEndpoints {
  /** Endpoints for the traffic policy Cluster. */
  readonly cluster: readonly Endpoint[];
  /** Endpoints for the traffic policy Local. */
  readonly local: readonly Endpoint[];
}

type Facts = Pick<NodeFacts, 'name' | 'zone'>;

/** Chooses ready endpoints; when there are none, those that are terminating and still serve. */
export function chooseEndpoints(endpoints: readonly Endpoint[], node: Facts): ChosenEndpoints {
  const isPreferred = topologyOf(endpoints, node);
  const cluster = endpoints.filter((endpoint) => endpoint.isReady && isPreferred(endpoint));
  const local = endpoints.filter(({ isLocal }) => isLocal);
  const localReady = local.filter(({ isReady }) => isReady);
  return {
    cluster: cluster.length > 0 ? cluster : endpoints.filter(stillServes),
    local: localReady.length > 0 ? localReady : local.filter(stillServes),
  };
}

/** Reports whether any client in the cluster can use the endpoint. */
export function isUsable(endpoint: Endpoint): boolean {
  return endpoint.isReady || stillServes(endpoint);
}

function stillServes({ isServing, isTerminating }: Endpoint): boolean {
  return isServing && isTerminating;
}

/**
 * Returns a test for preferred endpoints. Hints count only if all ready endpoints have them and one of them is for this
 * node, or else for its zone, so that a node is never left without endpoints.
 */
function topologyOf(endpoints: readonly Endpoint[], { name, zone }: Facts): (endpoint: Endpoint) => boolean {
  const ready = endpoints.filter(({ isReady }) => isReady);
  const isForNode = ({ nodes }: Endpoint) => nodes.includes(name);
  if (ready.every(({ nodes }) => nodes.length > 0) && ready.some(isForNode)) return isForNode;
  const isForZone = ({ zones }: Endpoint) => zone !== undefined && zones.includes(zone);
  if (ready.every(({ zones }) => zones.length > 0) && ready.some(isForZone)) return isForZone;
  return () => true;
}

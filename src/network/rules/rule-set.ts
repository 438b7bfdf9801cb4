/** Rules for the traffic of Services on a node, independent of how they are applied. */
import type { IpFamily } from './addresses.ts';

export type Protocol = 'tcp' | 'udp';

/** End of a connection: usually an address and a port of a pod. */
export interface Destination {
  readonly address: string;
  readonly port: number;
  /** True when it is on this node. */
  readonly isLocal: boolean;
}

/** Handling of traffic without an endpoint: `reject` answers at once, `drop` does not. */
type NoEndpoint = 'reject' | 'drop';

/** Endpoints among which connections are distributed, and the handling of traffic when there are none. */
export interface Choice {
  readonly endpoints: readonly Destination[];
  readonly otherwise: NoEndpoint;
}

/** Traffic that arrives at external addresses and node ports. */
export interface ExternalTraffic {
  /** External IPs. */
  readonly addresses: readonly string[];
  /** Addresses of the load balancer, which may have source ranges. */
  readonly loadBalancerAddresses: readonly string[];
  /** Node port; 0 for none. */
  readonly nodePort: number;
  /** Sources that may use the load balancer addresses; undefined: all. */
  readonly allowedSources: readonly string[] | undefined;
  /** Local: the address of the client is preserved, and only endpoints of this node are used. */
  readonly policy: 'Cluster' | 'Local';
  /** Endpoints for clients outside of the cluster. */
  readonly outside: Choice;
  /** Endpoints for this node and its pods, which ignore the policy. */
  readonly inside: readonly Destination[];
}

/** Rules of one port of a Service, for one IP family. */
export interface PortRules {
  /** Unique: `namespace/name:port/protocol/family`. */
  readonly id: string;
  readonly family: IpFamily;
  readonly protocol: Protocol;
  readonly clusterIP: string;
  readonly port: number;
  /** Time that a client stays with its endpoint, in seconds; undefined when every connection is distributed anew. */
  readonly affinitySeconds: number | undefined;
  /** Traffic to the cluster IP. */
  readonly internal: Choice;
  readonly external: ExternalTraffic | undefined;
  /** Endpoints that may still have connections: those that serve, whatever the policies say. */
  readonly serving: readonly Destination[];
}

/** A port at which a load balancer asks whether this node has endpoints of a service. */
export interface HealthCheck {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
  readonly localEndpoints: number;
}

export interface ServiceRules {
  readonly ports: readonly PortRules[];
  readonly healthCheck: HealthCheck | undefined;
  /** Ports that are left out because of their protocol, as `port/protocol`. */
  readonly unsupported: readonly string[];
  /** External IPs that are left out because they are in a range of the cluster. */
  readonly reservedAddresses: readonly string[];
}

/** The rules of all services, by `namespace/name`. */
type RuleSet = ReadonlyMap<string, ServiceRules>;

/** Input of the rules besides the API's services. */
export interface NodeFacts {
  readonly name: string;
  readonly zone: string | undefined;
  /** The addresses of the node. */
  readonly addresses: readonly string[];
  /** The ranges of pods and of cluster IPs, canonical: no service gets an address in them as an external IP. */
  readonly reservedRanges: readonly string[];
}

export const NO_RULES: ServiceRules = { ports: [], healthCheck: undefined, unsupported: [], reservedAddresses: [] };

export interface RuleChange {
  /** Services whose rules may have changed, with all their rules; a deleted service has none. */
  readonly services: RuleSet;
  /** The ranges of cluster IPs. */
  readonly serviceRanges: readonly string[];
}

/** The first change has all services. Calls do not overlap. */
export interface RuleApplier {
  /**
   * Resolves when new connections follow the rules; open ones continue. After a rejection, the next call also applies
   * the changes of the failed one.
   */
  apply(change: RuleChange): Promise<void>;
  /** Removes everything. */
  close(): Promise<void>;
}

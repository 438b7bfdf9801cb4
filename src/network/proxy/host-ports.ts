/** Keeps services from taking ports of the node that other programs listen on. */

import type { DeepReadonly } from '../../api/object-types.ts';
import { groupBy } from '../../base/collections/group-by.ts';
import type { Service } from '../../kinds/groups/core/service/service.ts';
import type { NetworkPort } from '../kernel/ports/listening-sockets.ts';
import { familyOf } from '../rules/addresses.ts';
import {
  type HostPort,
  type HostPortDecision,
  hostPortsOf,
  keyOfHostPort,
  ownEndpoints,
  withoutHostPorts,
} from '../rules/host-ports.ts';
import type { Protocol, ServiceRules } from '../rules/rule-set.ts';

export interface HostPortsOptions {
  readonly listeners: () => Promise<readonly NetworkPort[]>;
  /** The addresses of the node. */
  readonly addresses: readonly string[];
}

/** Service with the rules that it requests. */
export interface WantedRules {
  readonly service: DeepReadonly<Service> | undefined;
  readonly rules: ServiceRules;
}

export class HostPorts {
  /** Ports that each service has. Once taken, a port stays with its service, even if a program listens on it later. */
  readonly #taken = new Map<string, ReadonlySet<string>>();

  constructor(private readonly options: HostPortsOptions) {}

  /**
   * Decides for some services. Reads the listeners of the node only when a service requests a port that it does not
   * have.
   */
  async decide(services: ReadonlyMap<string, WantedRules>): Promise<ReadonlyMap<string, HostPortDecision>> {
    const { addresses } = this.options;
    const wanted = [...services].map(([key, { service, rules }]) => ({
      key,
      rules,
      // Ports that a load balancer does not have now count as well: it would get them if they were free.
      ports: [...hostPortsOf(rules), ...balancedPorts(service, addresses)],
    }));
    const wantsMore = wanted.some(({ key, ports }) => ports.some((port) => !this.#has(key, port)));
    const listeners = groupBy(wantsMore ? await this.options.listeners() : [], nameOfHostPort);
    const decisions = wanted.map(({ key, rules, ports }) => {
      const isOwnEndpoint = ownEndpoints(rules, addresses);
      const isTaken = (port: HostPort) =>
        !this.#has(key, port) &&
        listeners.get(nameOfHostPort(port))?.some((listener) => isTakenBy(listener, port, addresses)) === true &&
        !isOwnEndpoint(port);
      const decision = withoutHostPorts(rules, isTaken);
      this.#take(key, decision.rules);
      return [key, { ...decision, rejected: ports.filter(isTaken) }] as const;
    });
    return new Map(decisions);
  }

  #take(key: string, rules: ServiceRules): void {
    const taken = new Set(hostPortsOf(rules).map(keyOfHostPort));
    if (taken.size > 0) this.#taken.set(key, taken);
    else this.#taken.delete(key);
  }

  #has(service: string, port: HostPort): boolean {
    return this.#taken.get(service)?.has(keyOfHostPort(port)) ?? false;
  }
}

/** Reports whether a listener on the same port also has the address. */
function isTakenBy(listener: NetworkPort, { address }: HostPort, ofNode: readonly string[]): boolean {
  if (address === undefined || listener.address === address) return true;
  if (!ofNode.includes(address)) return false;
  return listener.address === '::' || (listener.address === '0.0.0.0' && familyOf(address) === 4);
}

/** The ports that the built-in load balancer would have at the addresses of this node. */
function balancedPorts(service: WantedRules['service'], addresses: readonly string[]): readonly HostPort[] {
  if (service?.spec.type !== 'LoadBalancer' || service.spec.loadBalancerClass !== undefined) return [];
  const ports = (service.spec.ports ?? []).filter(({ protocol }) => protocol === 'TCP' || protocol === 'UDP');
  return ports.flatMap(({ port, protocol }) =>
    addresses.map((address) => ({ protocol: protocol.toLowerCase() as Protocol, address, port })),
  );
}

/** Formats a port for events and the annotation of the node: `TCP/22`. */
export const nameOfHostPort = ({ protocol, port }: Pick<HostPort, 'protocol' | 'port'>) =>
  `${protocol.toUpperCase()}/${port}`;

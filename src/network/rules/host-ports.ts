/** Decides which ports of a service a node does not take, because something on the node has them already. */
import type { ExternalTraffic, PortRules, Protocol, ServiceRules } from './rule-set.ts';

/** A port that rules take from the node. */
export interface HostPort {
  readonly protocol: Protocol;
  /** Address; undefined: all addresses of the node, as for node ports. */
  readonly address: string | undefined;
  readonly port: number;
}

export interface HostPortDecision {
  readonly rules: ServiceRules;
  readonly rejected: readonly HostPort[];
}

export const keyOfHostPort = ({ protocol, address = '', port }: HostPort) => `${protocol} ${address} ${port}`;

/** The ports that rules take from the node. */
export function hostPortsOf({ ports }: ServiceRules): readonly HostPort[] {
  return ports.flatMap(({ protocol, port, external }) => {
    if (!external) return [];
    const { addresses, loadBalancerAddresses, nodePort } = external;
    return [
      ...[...addresses, ...loadBalancerAddresses].map((address) => ({ protocol, address, port })),
      ...(nodePort > 0 ? [{ protocol, address: undefined, port: nodePort }] : []),
    ];
  });
}

/** The rules without the ports that are taken. */
export function withoutHostPorts(rules: ServiceRules, isTaken: (port: HostPort) => boolean): HostPortDecision {
  const rejected = hostPortsOf(rules).filter(isTaken);
  if (rejected.length === 0) return { rules, rejected };
  const keys = new Set(rejected.map(keyOfHostPort));
  return { rules: { ...rules, ports: rules.ports.map((each) => withoutKeys(each, keys)) }, rejected };
}

function withoutKeys(rules: PortRules, keys: ReadonlySet<string>): PortRules {
  const { protocol, port, external } = rules;
  if (!external) return rules;
  const isFree = (address: string) => !keys.has(keyOfHostPort({ protocol, address, port }));
  const left: ExternalTraffic = {
    ...external,
    addresses: external.addresses.filter(isFree),
    loadBalancerAddresses: external.loadBalancerAddresses.filter(isFree),
    nodePort: keys.has(keyOfHostPort({ protocol, address: undefined, port: external.nodePort }))
      ? 0
      : external.nodePort,
  };
  const isEmpty = left.addresses.length === 0 && left.loadBalancerAddresses.length === 0 && left.nodePort === 0;
  return { ...rules, external: isEmpty ? undefined : left };
}

/**
 * Returns a test for ports that lead to an endpoint without rules: a pod on the network of the node. A service may have
 * thousands of ports with thousands of endpoints each: they are looked at once, on first use.
 */
export function ownEndpoints(
  { ports }: ServiceRules,
  nodeAddresses: readonly string[],
): (port: Pick<HostPort, 'protocol' | 'port'>) => boolean {
  let own: Set<string> | undefined;
  const find = () => {
    const found = new Set<string>();
    for (const { protocol, external } of ports) {
      for (const { isLocal, address, port } of external?.inside ?? []) {
        if (isLocal && nodeAddresses.includes(address)) found.add(`${protocol} ${port}`);
      }
    }
    return found;
  };
  return ({ protocol, port }) => {
    own ??= find();
    return own.has(`${protocol} ${port}`);
  };
}

/** Addresses and ports that this node listens on for the rules of a port. */
import type { Destination, PortRules, Protocol } from '../rules/rule-set.ts';

export interface Front {
  readonly protocol: Protocol;
  readonly host: string;
  readonly port: number;
  readonly endpoints: readonly Destination[];
  /** Sources that may connect, as addresses and ranges; undefined: all. */
  readonly allowedSources: readonly string[] | undefined;
  /** Clients stay with an endpoint for all fronts with the same key. */
  readonly affinity: { readonly key: string; readonly seconds: number } | undefined;
}

/** Fronts with the same key cannot both be open. */
export function keyOfFront({ protocol, host, port }: Pick<Front, 'protocol' | 'host' | 'port'>): string {
  return `${protocol} ${host} ${port}`;
}

/** Derives a value from the front that is served, anew when that is another one. */
export function perFront<T>(derive: (front: Front) => T): (front: Front) => T {
  let last: { readonly front: Front; readonly value: T } | undefined;
  return (front) => {
    if (last?.front !== front) last = { front, value: derive(front) };
    return last.value;
  };
}

/** Returns the fronts of a port. Nothing listens for a port without endpoints: clients are rejected. */
export function frontsOf({
  id,
  family,
  protocol,
  clusterIP,
  port,
  affinitySeconds,
  internal,
  external,
}: PortRules): Front[] {
  const affinity = affinitySeconds === undefined ? undefined : { key: id, seconds: affinitySeconds };
  const front = (host: string, at: number, endpoints: readonly Destination[], allowedSources?: readonly string[]) => ({
    protocol,
    host,
    port: at,
    endpoints,
    allowedSources,
    affinity,
  });
  const all: Front[] = [front(clusterIP, port, internal.endpoints)];
  if (external) {
    const { endpoints } = external.outside;
    for (const address of external.addresses) all.push(front(address, port, endpoints));
    for (const address of external.loadBalancerAddresses) {
      all.push(front(address, port, endpoints, external.allowedSources));
    }
    if (external.nodePort > 0) all.push(front(family === 4 ? '0.0.0.0' : '::', external.nodePort, endpoints));
  }
  return all.filter(({ endpoints }) => endpoints.length > 0);
}

/**
 * Finds UDP connections that must be forgotten after a change: a client that keeps its socket would stay with an
 * endpoint that is gone.
 */
import type { StaleConnections } from '../kernel/kernel.ts';
import type { Destination, PortRules } from '../rules/rule-set.ts';

/** Compares the ports of one service before and after. */
export function staleConnections(
  before: readonly PortRules[],
  after: readonly PortRules[],
): readonly StaleConnections[] {
  const known = new Map(before.map((each) => [each.id, each]));
  return after.flatMap((rules) => {
    const { protocol, serving, id } = rules;
    if (protocol !== 'udp' || serving.length === 0) return [];
    const keep = serving.map(textOf);
    const kept = new Set(keep);
    const old = known.get(id);
    // The first endpoint counts, too: packets that came before it may have been sent elsewhere.
    const isAffected = !old || old.serving.length === 0 || old.serving.some((each) => !kept.has(textOf(each)));
    return isAffected ? places(rules).map((place) => ({ protocol: 'udp' as const, ...place, keep })) : [];
  });
}

function places({ clusterIP, port, external }: PortRules): readonly Pick<StaleConnections, 'address' | 'port'>[] {
  const addresses = [clusterIP, ...(external ? [...external.addresses, ...external.loadBalancerAddresses] : [])];
  const nodePort = external?.nodePort ? [{ address: undefined, port: external.nodePort }] : [];
  return [...addresses.map((address) => ({ address, port })), ...nodePort];
}

function textOf({ address, port }: Destination): string {
  return `${address} ${port}`;
}

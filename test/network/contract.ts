/** Contract of all appliers of rules with real traffic, whether by nftables or with sockets. */

import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type Destination,
  NO_RULES,
  type PortRules,
  type RuleApplier,
  type ServiceRules,
} from '../../src/network/rules/rule-set.ts';
import type { Peer, Protocol } from './lab/peer.ts';

/** Environment of the contract: three servers, and a client on the node. */
export interface Site {
  readonly applier: RuleApplier;
  readonly client: Peer;
  /** The first address of three for services. */
  clusterIP(index: number): string;
  readonly nodePortAddress: string;
  /** A port that is free for a node port. */
  nodePort(index: number): number;
  readonly backends: readonly { readonly peer: Peer; readonly address: string; readonly port: number }[];
  stop(): Promise<void>;
}

export function describeApplier(open: () => Promise<Site>): void {
  let site: Site;
  beforeAll(async () => {
    site = await open();
  }, 30_000);
  afterAll(() => site?.stop(), 30_000);

  const to = (...which: number[]): Destination[] =>
    which.map((index) => {
      const { address, port } = site.backends[index]!;
      return { address, port, isLocal: true };
    });
  const port = (index: number, endpoints: readonly Destination[], more: Partial<PortRules> = {}): PortRules => ({
    ...{ family: 4, clusterIP: site.clusterIP(index), port: 80, protocol: 'tcp', affinitySeconds: undefined },
    id: `test/service-${index}:80/${more.protocol ?? 'tcp'}/4`,
    internal: { endpoints, otherwise: 'reject' },
    external: undefined,
    serving: endpoints,
    ...more,
  });
  const rules = (...ports: PortRules[]): ServiceRules => ({ ...NO_RULES, ports });
  const apply = (services: Readonly<Record<string, ServiceRules>>) =>
    site.applier.apply({ services: new Map(Object.entries(services)), serviceRanges: [] });
  const ask = (address: string, asked: number, protocol: Protocol = 'tcp') =>
    site.client.request({ protocol, address, port: asked }).then((line) => line.split(' ')[0]);
  const askMany = async (address: string, asked: number, protocol: Protocol = 'tcp') => {
    const names = await Promise.all(Array.from({ length: 60 }, () => ask(address, asked, protocol)));
    return [...new Set(names)].sort();
  };
  const names = (...which: number[]) => which.map((index) => site.backends[index]!.peer.name);

  it.each(['tcp', 'udp'] as const)('distributes %s connections over all endpoints', async (protocol) => {
    await apply({ 'test/a': rules(port(0, to(0, 1, 2), { protocol })) });
    expect(await askMany(site.clusterIP(0), 80, protocol)).toEqual(names(0, 1, 2));
    await apply({ 'test/a': rules(port(0, to(1), { protocol })) });
    expect(await askMany(site.clusterIP(0), 80, protocol)).toEqual(names(1));
    await apply({ 'test/a': NO_RULES });
  });

  it('opens node ports', async () => {
    const nodePort = site.nodePort(0);
    const external = {
      ...{ addresses: [], loadBalancerAddresses: [], nodePort, allowedSources: undefined, policy: 'Cluster' as const },
      outside: { endpoints: to(0, 1), otherwise: 'reject' as const },
      inside: to(0, 1),
    };
    const at = site.nodePortAddress;
    await apply({
      'test/a': rules(port(0, to(0, 1), { external }), port(0, to(0, 1), { external, protocol: 'udp' })),
    });
    expect(await askMany(at, nodePort)).toEqual(names(0, 1));
    expect(await askMany(at, nodePort, 'udp')).toEqual(names(0, 1));
    await apply({ 'test/a': NO_RULES });
    await expect(ask(at, nodePort)).rejects.toThrow('ECONNREFUSED');
  });

  it('refuses connections when there is no endpoint, and serves as soon as there is one', async () => {
    await apply({ 'test/a': rules(port(0, [])) });
    await expect(ask(site.clusterIP(0), 80)).rejects.toThrow('ECONNREFUSED');
    await apply({ 'test/a': rules(port(0, to(2))) });
    expect(await ask(site.clusterIP(0), 80)).toBe(names(2)[0]);
    await apply({ 'test/a': NO_RULES });
  });

  it('sends a client to the same endpoint while it has affinity, and to another one when that is gone', async () => {
    const affinitySeconds = 60;
    await apply({ 'test/a': rules(port(0, to(0, 1, 2), { affinitySeconds })) });
    const first = await askMany(site.clusterIP(0), 80);
    expect(first).toHaveLength(1);
    const kept = site.backends.findIndex(({ peer }) => peer.name === first[0]);
    const other = (kept + 1) % 3;
    await apply({ 'test/a': rules(port(0, to(kept, other), { affinitySeconds })) });
    expect(await askMany(site.clusterIP(0), 80)).toEqual(first);
    await apply({ 'test/a': rules(port(0, to(other), { affinitySeconds })) });
    expect(await askMany(site.clusterIP(0), 80)).toEqual(names(other));
    await apply({ 'test/a': NO_RULES });
  });

  it('forgets affinity after its time', async () => {
    await apply({ 'test/a': rules(port(0, to(0, 1, 2), { affinitySeconds: 1 })) });
    const seen = new Set<string>();
    // Each request renews it: the time counts from the last one.
    const deadline = performance.now() + 20_000;
    while (seen.size < 2 && performance.now() < deadline) {
      seen.add((await ask(site.clusterIP(0), 80))!);
      await new Promise((resolve) => setTimeout(resolve, 1_100));
    }
    expect(seen.size).toBeGreaterThan(1);
    await apply({ 'test/a': NO_RULES });
  }, 30_000);

  it('keeps open connections when other services, and their own endpoints, change', async () => {
    await apply({ 'test/a': rules(port(0, to(0))), 'test/b': rules(port(1, to(1))) });
    await site.client.open('kept', { protocol: 'tcp', address: site.clusterIP(0), port: 80 });
    await apply({ 'test/b': rules(port(1, to(2))) });
    expect(await site.client.say('kept', 'one')).toBe('one');
    await apply({ 'test/a': rules(port(0, to(1))) });
    expect(await site.client.say('kept', 'two')).toBe('two');
    expect(await ask(site.clusterIP(0), 80)).toBe(names(1)[0]);
    await apply({ 'test/a': NO_RULES, 'test/b': NO_RULES });
  });

  it('sends packets of an open UDP socket to another endpoint when theirs is gone', async () => {
    await apply({ 'test/a': rules(port(0, to(0), { protocol: 'udp' })) });
    const request = { protocol: 'udp', address: site.clusterIP(0), port: 80 } as const;
    expect(await site.client.open('udp', request)).toContain(names(0)[0]);
    await apply({ 'test/a': rules(port(0, to(1), { protocol: 'udp' })) });
    expect(await site.client.say('udp', '?')).toContain(names(1)[0]);
    await apply({ 'test/a': NO_RULES });
  });

  it('serves two services that ask for one node port to the first of them, and then to the other', async () => {
    const nodePort = site.nodePort(1);
    const external = (endpoints: readonly Destination[]) => ({
      ...{ addresses: [], loadBalancerAddresses: [], nodePort, allowedSources: undefined, policy: 'Cluster' as const },
      ...{ outside: { endpoints, otherwise: 'reject' as const }, inside: endpoints },
    });
    await apply({ 'test/b': rules(port(1, to(1), { external: external(to(1)) })) });
    await apply({ 'test/a': rules(port(0, to(0), { external: external(to(0)) })) });
    expect(await askMany(site.nodePortAddress, nodePort)).toEqual(names(0));
    await apply({ 'test/a': NO_RULES });
    expect(await askMany(site.nodePortAddress, nodePort)).toEqual(names(1));
    await apply({ 'test/b': NO_RULES });
  });
}

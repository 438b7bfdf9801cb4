import { describe, expect, it } from 'vitest';
import type { Link } from '../kernel/routing/router.ts';
import { GATEWAY_ANNOTATION, NO_ROUTES, type RoutingFacts, routingOf, tunnelNumber } from './routing-of.ts';

const node = (name: string, address: string, podCIDR: string, annotations = {}) =>
  ({
    metadata: { name, annotations },
    spec: { podCIDR, podCIDRs: [podCIDR] },
    status: { addresses: [{ type: 'InternalIP', address }] },
  }) as never;

const eth0: Link = { name: 'eth0', mtu: 1400, addresses: ['192.168.1.1/24'] };
const own = node('a', '192.168.1.1', '10.244.0.0/24');
const plan = (others: readonly never[], more: Partial<RoutingFacts> = {}) =>
  routingOf({ nodes: [own, ...others], node: 'a', links: [eth0], mode: 'auto', vni: 7, ...more });

describe('routes to the pods of other machines', () => {
  it('lead through their addresses on a shared link', () => {
    expect(plan([node('b', '192.168.1.2', '10.244.1.0/24')])).toEqual({
      ...NO_ROUTES,
      routes: [{ range: '10.244.1.0/24', via: '192.168.1.2' }],
    });
  });

  it('lead through a tunnel to machines elsewhere, which leaves room for its headers', () => {
    const { routes, tunnel } = plan([
      node('b', '192.168.1.2', '10.244.1.0/24'),
      node('c', '172.16.0.3', '10.244.2.0/24'),
    ]);
    expect(routes).toHaveLength(1);
    expect(tunnel).toEqual({
      ...{ vni: 7, port: 4789, local: '192.168.1.1', address: '10.244.0.0', mac: '0a:58:c0:a8:01:01', mtu: 1350 },
      peers: [{ remote: '172.16.0.3', gateway: '10.244.2.0', mac: '0a:58:ac:10:00:03', ranges: ['10.244.2.0/24'] }],
    });
  });

  it('are what was asked for', () => {
    const b = node('b', '192.168.1.2', '10.244.1.0/24');
    const c = node('c', '172.16.0.3', '10.244.2.0/24');
    expect(plan([b, c], { mode: 'direct' })).toMatchObject({ routes: [{}, { via: '172.16.0.3' }], tunnel: undefined });
    expect(plan([b, c], { mode: 'vxlan' })).toMatchObject({ routes: [], tunnel: { peers: [{}, {}] } });
    expect(plan([b, c], { mode: 'none' })).toEqual(NO_ROUTES);
  });

  it('lead through the machine of a node that has no link of its own', () => {
    const gateway = { [GATEWAY_ANNOTATION]: '192.168.1.2' };
    const first = node('b', '192.168.1.2', '10.244.1.0/24');
    const second = node('c', '10.244.255.2', '10.244.2.0/24', gateway);
    expect(plan([first, second]).routes).toEqual([
      { range: '10.244.1.0/24', via: '192.168.1.2' },
      { range: '10.244.2.0/24', via: '192.168.1.2' },
      { range: '10.244.255.2/32', via: '192.168.1.2' },
    ]);
    expect(plan([first, second], { mode: 'vxlan' }).tunnel?.peers).toMatchObject([
      { remote: '192.168.1.2', gateway: '10.244.1.0', ranges: ['10.244.1.0/24', '10.244.2.0/24', '10.244.255.2/32'] },
    ]);
  });

  it('are not made for nodes of this machine, nor for nodes that lack an address or a range', () => {
    const behind = node('b', '10.244.255.2', '10.244.1.0/24', { [GATEWAY_ANNOTATION]: '192.168.1.1' });
    const without = { metadata: { name: 'c' }, spec: {}, status: {} } as never;
    const noRange = { ...(node('d', '192.168.1.4', '') as object), spec: {} } as never;
    expect(plan([behind, without, noRange])).toEqual(NO_ROUTES);
    expect(plan([behind], { node: 'unknown' })).toEqual(NO_ROUTES);
  });

  it.each(['0.0.0.0/0', '192.168.0.0/16', '10.244.0.128/25', '10.244.1.0/24'])(
    'never take %s, which is in use',
    (range) => {
      const result = plan([node('b', '192.168.1.2', '10.244.1.0/24'), node('evil', '192.168.1.3', range)]);
      expect(result.routes).toEqual([{ range: '10.244.1.0/24', via: '192.168.1.2' }]);
      expect(result.rejected).toMatchObject([{ node: 'evil' }]);
    },
  );
});

it('the number of the tunnel follows from the UID, and fits into 24 bits', () => {
  expect(tunnelNumber('00000000-aaaa')).toBe(2);
  expect(tunnelNumber('ffffffff-aaaa')).toBeLessThan(2 ** 24);
  expect(tunnelNumber('12ab34cd-1')).toBe(tunnelNumber('12ab34ff-2'));
});

import { expect, it } from 'vitest';
import { hostnamesOf, type MemberService, serviceIngresses, shardOf } from './member-shards.ts';

const cluster = { metadata: { name: 'west' }, spec: {}, status: { zones: ['a'], region: 'r' } } as never;
const healthyEndpoints = { metadata: { name: 'web' }, subsets: [{ addresses: [{ ip: '10.0.0.1' }] }] };

function member(ingress: unknown, endpoints: unknown = healthyEndpoints): MemberService {
  const service = { metadata: { name: 'web' }, spec: {}, status: { loadBalancer: { ingress } } };
  return { cluster, health: 'ready', service: service as never, endpoints: endpoints as never };
}

it('a service is published with the addresses of its load balancer, and those of its names', () => {
  const shown = member([{ ip: '192.0.2.1' }, { hostname: 'lb.example.com' }, { ip: '2001:DB8::1' }]);
  expect(hostnamesOf(shown)).toEqual(['lb.example.com']);
  expect(shardOf(shown, new Map([['lb.example.com', ['192.0.2.2']]]))).toEqual({
    ...{ zones: ['a'], region: 'r', healthy: true, addresses: ['192.0.2.1', '192.0.2.2', '2001:db8::1'] },
  });
});

it.each<[string, unknown, unknown]>([
  ['a text', 'x', 'x'],
  ['a number', 5, { subsets: 5 }],
  ['an object', {}, { subsets: {} }],
  ['empty items', [null, 5, 'x', {}], { subsets: [null, 5, 'x', {}] }],
  ['items of other types', [{ ip: {} }, { hostname: 5 }, { ip: 5 }], { subsets: [{ addresses: 'x' }] }],
  ['nothing', null, null],
])(
  'invalid values from a member instead of load balancers and endpoints are not addresses: %s',
  (_, ingress, endpoints) => {
    const shown = member(ingress, endpoints);
    expect(hostnamesOf(shown)).toEqual([]);
    expect(shardOf(shown, new Map())).toMatchObject({ healthy: false, addresses: [] });
    expect(serviceIngresses([shown])).toBe(undefined);
  },
);

it('a member has at most 100 load balancers for a service', () => {
  const many = (item: (i: number) => object) => member(Array.from({ length: 100_000 }, (_, i) => item(i)));
  expect(hostnamesOf(many((i) => ({ hostname: `lb-${i}.example.com` })))).toHaveLength(100);
  const ips = many((i) => ({ ip: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}` }));
  expect(shardOf(ips, new Map()).addresses).toHaveLength(100);
  expect(serviceIngresses([ips])!.length).toBeLessThan(10_000);
});

import { describe, expect, it } from 'vitest';
import { atOnce, countTurns, NEVER_SPENT } from '../../../test/support/divided-work.ts';
import type { NodeFacts, PortRules } from './rule-set.ts';
import { serviceRules as dividedRules } from './service-rules.ts';

const NODE: NodeFacts = {
  ...{ name: 'here', zone: 'a', addresses: ['192.0.2.2'] },
  reservedRanges: ['10.96.0.0/16', '10.244.0.0/24', '10.244.1.0/24'],
};
type Service = Parameters<typeof dividedRules>[0];
type Slice = Parameters<typeof dividedRules>[1][number];
type Endpoint = Slice['endpoints'][number];

const serviceRules = (of: Service, slices: readonly Slice[], node: NodeFacts) =>
  atOnce(dividedRules(of, slices, node, NEVER_SPENT));

const service = (spec: object = {}, status: object = {}) =>
  ({
    metadata: { namespace: 'ns', name: 'web' },
    spec: {
      type: 'ClusterIP',
      ports: [{ port: 80, protocol: 'TCP', targetPort: 8080 }],
      clusterIPs: ['10.96.0.10'],
      internalTrafficPolicy: 'Cluster',
      ...spec,
    },
    status: { loadBalancer: {}, ...status },
  }) as unknown as Service;

const endpoint = (address: string, more: object = {}) =>
  ({ addresses: [address], conditions: {}, ...more }) as Endpoint;
const slice = (endpoints: readonly Endpoint[], more: object = {}) =>
  ({
    metadata: {},
    addressType: 'IPv4',
    ports: [{ name: '', protocol: 'TCP', port: 8080 }],
    endpoints,
    ...more,
  }) as unknown as Slice;

const first = (spec: object, endpoints: readonly Endpoint[], status: object = {}): PortRules =>
  serviceRules(service(spec, status), [slice(endpoints)], NODE).ports[0]!;
const addresses = (list: readonly { readonly address: string }[]) => list.map(({ address }) => address);
const NODE_PORT = { type: 'NodePort', ports: [{ port: 80, protocol: 'TCP', nodePort: 30080 }] };
const READY = { conditions: { ready: true, serving: true, terminating: false } };
const UNREADY = { conditions: { ready: false, serving: false, terminating: false } };
const DRAINING = { conditions: { ready: false, serving: true, terminating: true } };

it.each(['service.kubernetes.io/service-proxy-name', 'service.kubernetes.io/headless'])(
  'what is left to others carries %s',
  (name) => {
    const metadata = { labels: { [name]: '' } };
    const rules = [slice([endpoint('10.1.0.2', READY)]), slice([endpoint('10.1.0.3', READY)], { metadata })];
    const served = serviceRules(service(), rules, NODE).ports[0]!;
    expect(addresses(served.internal.endpoints)).toEqual(['10.1.0.2']);
    expect(serviceRules({ ...service(), metadata } as unknown as Service, rules, NODE).ports).toEqual([]);
  },
);

describe('endpoints', () => {
  it('are those that are ready, in order', () => {
    const { internal } = first({}, [endpoint('10.1.0.3'), endpoint('10.1.0.2', READY), endpoint('10.1.0.4', UNREADY)]);
    expect(internal.endpoints).toEqual([
      { address: '10.1.0.2', port: 8080, isLocal: false },
      { address: '10.1.0.3', port: 8080, isLocal: false },
    ]);
  });

  it('that end and still serve are used when no other is left', () => {
    expect(
      addresses(first({}, [endpoint('10.1.0.2', DRAINING), endpoint('10.1.0.3', READY)]).internal.endpoints),
    ).toEqual(['10.1.0.3']);
    expect(
      addresses(first({}, [endpoint('10.1.0.2', DRAINING), endpoint('10.1.0.3', UNREADY)]).internal.endpoints),
    ).toEqual(['10.1.0.2']);
  });

  it('of the same address count once, and the one that does not end counts', () => {
    const rules = first({}, [endpoint('10.1.0.2', READY), endpoint('10.1.0.2', DRAINING)]);
    expect(addresses(rules.internal.endpoints)).toEqual(['10.1.0.2']);
  });

  it('belong to the port of their name and protocol', () => {
    const ports = [
      { name: 'http', port: 80, protocol: 'TCP' },
      { name: 'dns', port: 53, protocol: 'UDP' },
    ];
    const slices = [
      slice([endpoint('10.1.0.2')], { ports: [{ name: 'http', protocol: 'TCP', port: 8080 }] }),
      slice([endpoint('10.1.0.3')], { ports: [{ name: 'dns', protocol: 'UDP', port: 5353 }] }),
    ];
    const found = serviceRules(service({ ports }), slices, NODE).ports;
    expect(found.map(({ protocol, port, internal }) => [protocol, port, internal.endpoints])).toEqual([
      ['tcp', 80, [{ address: '10.1.0.2', port: 8080, isLocal: false }]],
      ['udp', 53, [{ address: '10.1.0.3', port: 5353, isLocal: false }]],
    ]);
  });

  it('are rejected when there is none anywhere', () => {
    expect(first({}, []).internal).toEqual({ endpoints: [], otherwise: 'reject' });
  });
});

const hinted = (address: string, zone: string, node?: string) =>
  endpoint(address, { hints: { forZones: [{ name: zone }], ...(node ? { forNodes: [{ name: node }] } : {}) } });
const chosen = (...endpoints: Endpoint[]) => addresses(first({}, endpoints).internal.endpoints);

it('topology keeps traffic in the zone, and on the node when hints say so', () => {
  expect(chosen(hinted('10.1.0.2', 'a'), hinted('10.1.0.3', 'b'))).toEqual(['10.1.0.2']);
  expect(chosen(hinted('10.1.0.2', 'a', 'there'), hinted('10.1.0.3', 'a', 'here'))).toEqual(['10.1.0.3']);
  expect(chosen(hinted('10.1.0.2', 'a', 'there'), hinted('10.1.0.3', 'b', 'other'))).toEqual(['10.1.0.2']);
});

it('topology is ignored when an endpoint has no hint, or none is for this zone', () => {
  expect(chosen(hinted('10.1.0.2', 'a'), endpoint('10.1.0.3'))).toEqual(['10.1.0.2', '10.1.0.3']);
  expect(chosen(hinted('10.1.0.2', 'b'), hinted('10.1.0.3', 'c'))).toEqual(['10.1.0.2', '10.1.0.3']);
});

describe('traffic policies', () => {
  const both = [endpoint('10.1.0.2', { nodeName: 'here' }), endpoint('10.1.0.3', { nodeName: 'there' })];
  const elsewhere = both.slice(1);

  it('Local uses the endpoints of the node', () => {
    expect(addresses(first({ internalTrafficPolicy: 'Local' }, both).internal.endpoints)).toEqual(['10.1.0.2']);
    const { external } = first({ ...NODE_PORT, externalTrafficPolicy: 'Local' }, both);
    expect(external).toMatchObject({ nodePort: 30080, policy: 'Local' });
    expect(addresses(external!.outside.endpoints)).toEqual(['10.1.0.2']);
    expect(addresses(external!.inside)).toEqual(['10.1.0.2', '10.1.0.3']);
  });

  it('Local drops what another node could serve, and rejects what none can', () => {
    const local = { ...NODE_PORT, externalTrafficPolicy: 'Local', internalTrafficPolicy: 'Local' };
    expect(first(local, elsewhere).internal).toEqual({ endpoints: [], otherwise: 'drop' });
    expect(first(local, elsewhere).external?.outside).toEqual({ endpoints: [], otherwise: 'drop' });
    expect(first(local, []).external?.outside).toEqual({ endpoints: [], otherwise: 'reject' });
  });

  it('counts local endpoints that are ready for the health check', () => {
    const spec = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 31000 };
    const drained = endpoint('10.1.0.9', { nodeName: 'here', ...DRAINING });
    const check = serviceRules(service(spec), [slice([...both, drained])], NODE).healthCheck;
    expect(check).toEqual({ namespace: 'ns', name: 'web', port: 31000, localEndpoints: 1 });
    expect(serviceRules(service({ ...spec, externalTrafficPolicy: 'Cluster' }), [], NODE).healthCheck).toBeUndefined();
  });
});

describe('addresses', () => {
  const balancer = (ranges?: string[], ingress: object[] = [{ ip: '192.0.2.9', ipMode: 'VIP' }]) =>
    first({ type: 'LoadBalancer', loadBalancerSourceRanges: ranges }, [endpoint('10.1.0.2')], {
      loadBalancer: { ingress },
    }).external;

  it('of load balancers are served in mode VIP', () => {
    expect(balancer()).toMatchObject({ loadBalancerAddresses: ['192.0.2.9'], allowedSources: undefined });
    expect(balancer(undefined, [{ ip: '192.0.2.9', ipMode: 'Proxy' }, { hostname: 'x' }])).toBeUndefined();
  });

  it('of load balancers are left out for a port that failed there', () => {
    const failed = (port: number) => [
      { ip: '192.0.2.9', ipMode: 'VIP', ports: [{ port, protocol: 'TCP', error: 'PortInUse' }] },
    ];
    expect(balancer(undefined, failed(80))).toBeUndefined();
    expect(balancer(undefined, failed(81))).toMatchObject({ loadBalancerAddresses: ['192.0.2.9'] });
  });

  it('of load balancers may have source ranges; a node in one reaches itself', () => {
    expect(balancer([' 198.51.100.0/24 ', 'fd00::/8'])?.allowedSources).toEqual(['198.51.100.0/24']);
    expect(balancer(['192.0.2.0/24'])?.allowedSources).toEqual(['192.0.2.0/24', '192.0.2.9']);
    expect(balancer(['192.0.2.0/24', '0.0.0.0/0'])?.allowedSources).toBeUndefined();
  });

  it('of both families have rules of their own', () => {
    const spec = { clusterIPs: ['10.96.0.10', 'fd00:96::a'], externalIPs: ['203.0.113.1', '2001:DB8::1'] };
    const slices = [slice([endpoint('10.1.0.2')]), slice([endpoint('fd00:1::2')], { addressType: 'IPv6' })];
    const found = serviceRules(service(spec), slices, NODE).ports;
    expect(
      found.map(({ family, clusterIP, internal, external }) => [
        ...[family, clusterIP, addresses(internal.endpoints), external?.addresses],
      ]),
    ).toEqual([
      [4, '10.96.0.10', ['10.1.0.2'], ['203.0.113.1']],
      [6, 'fd00:96::a', ['fd00:1::2'], ['2001:db8::1']],
    ]);
  });

  it('are what headless services and aliases do not have', () => {
    expect(serviceRules(service({ clusterIPs: ['None'] }), [], NODE).ports).toEqual([]);
    expect(serviceRules(service({ type: 'ExternalName', clusterIPs: undefined }), [], NODE).ports).toEqual([]);
  });
});

it('remembers clients for the time that the service asks for', () => {
  const affinity = { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 7 } } };
  expect(first(affinity, []).affinitySeconds).toBe(7);
  expect(first({ sessionAffinity: 'None' }, []).affinitySeconds).toBeUndefined();
});

it('SCTP is left out, with a message', () => {
  const ports = [
    { port: 80, protocol: 'TCP' },
    { port: 99, protocol: 'SCTP' },
  ];
  const rules = serviceRules(service({ ports }), [], NODE);
  expect(rules.ports).toHaveLength(1);
  expect(rules.unsupported).toEqual(['99/SCTP']);
});

it('makes the rules of many ports in many turns', () => {
  const ports = Array.from({ length: 100 }, (_, at) => ({ name: `p${at}`, port: at + 1, protocol: 'TCP' }));
  const slices = [slice([endpoint('10.1.0.2', READY)], { ports })];
  const { value, turns } = countTurns(dividedRules(service({ ports }), slices, NODE, { isSpent: () => true }));
  expect(value.ports.map(({ internal }) => internal.endpoints.length)).toEqual(ports.map(() => 1));
  expect(turns).toBeGreaterThan(100);
});

it('the ports of slices are looked at once, and not for each port of the service', () => {
  let read = 0;
  const counted = (at: number) => ({
    name: `p${at}`,
    protocol: 'TCP',
    get port() {
      read++;
      return at + 1;
    },
  });
  const ports = Array.from({ length: 100 }, (_, at) => ({ name: `p${at}`, port: at + 1, protocol: 'TCP' }));
  serviceRules(service({ ports }), [slice([], { ports: ports.map((_, at) => counted(at)) })], NODE);
  expect(read).toBeLessThanOrEqual(300);
});

it('external IPs in the ranges of pods and cluster IPs are left out, and named', () => {
  const externalIPs = ['10.244.1.7', '203.0.113.5', '10.96.0.1', '192.0.2.2'];
  const { ports, reservedAddresses } = serviceRules(service({ externalIPs }), [slice([endpoint('10.244.0.9')])], NODE);
  expect(ports[0]?.external?.addresses).toEqual(['203.0.113.5', '192.0.2.2']);
  expect(reservedAddresses).toEqual(['10.244.1.7', '10.96.0.1']);
});

import { describe, expect, it } from 'vitest';
import { create, update } from '../../../../../test/support/kinds/test-object.ts';
import { Service } from './service.ts';

const metadata = { name: 's', namespace: 'n' };
const service = (spec: object, annotations?: Record<string, string>) => ({
  metadata: { ...metadata, ...(annotations ? { annotations } : {}) },
  spec,
});
const web = { port: 80, targetPort: 8080 };

/** A service as it stands in the store. */
const stored = (spec: object) => {
  const { object, errors } = create(Service, service(spec));
  expect(errors).toEqual([]);
  return object;
};

const onlyBalancer = "may only be used when `type` is 'LoadBalancer'";

it.each<[string, object, ...string[]]>([
  [
    'two ports without names',
    { ports: [web, { port: 443 }] },
    'spec.ports[0].name: Required value',
    'spec.ports[1].name: Required value',
  ],
  [
    'two ports of one name',
    {
      ports: [
        { name: 'a', port: 1 },
        { name: 'a', port: 2 },
      ],
    },
    'spec.ports[1].name: Duplicate value: "a"',
  ],
  [
    'one port twice',
    {
      ports: [
        { name: 'a', port: 80 },
        { name: 'b', port: 80 },
      ],
    },
    'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
  ],
  [
    'one port for two protocols',
    {
      ports: [
        { name: 'a', port: 53 },
        { name: 'b', port: 53, protocol: 'UDP' },
      ],
    },
  ],
  [
    'one node port twice',
    {
      type: 'NodePort',
      ports: [
        { name: 'a', port: 1, nodePort: 30000 },
        { name: 'b', port: 2, nodePort: 30000 },
      ],
    },
    'spec.ports[1].nodePort: Duplicate value: 30000',
  ],
  [
    'no port number',
    { ports: [{ targetPort: 'web' }] },
    'spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
  ],
  [
    'a target port beyond all ports',
    { ports: [{ port: 80, targetPort: 65536 }] },
    'spec.ports[0].targetPort: Invalid value: 65536: must be between 1 and 65535, inclusive',
  ],
  [
    'a target port with a bad name',
    { ports: [{ port: 80, targetPort: 'web--x' }] },
    'spec.ports[0].targetPort: Invalid value: "web--x": must not contain consecutive hyphens',
  ],
  [
    'an unknown protocol',
    { ports: [{ port: 80, protocol: 'ICMP' }] },
    'spec.ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"',
  ],
  [
    'an unknown type',
    { type: 'Magic', ports: [web] },
    'spec.type: Unsupported value: "Magic": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
  ],
  [
    'a node port without nodes',
    { ports: [{ port: 80, nodePort: 30000 }] },
    "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
  ],
  ['no address and no ports', { clusterIP: 'None', selector: { app: 'x' } }],
  [
    'no address, but node ports',
    { type: 'NodePort', clusterIP: 'None', ports: [web] },
    'spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for NodePort services',
  ],
  [
    'no address, but a load balancer',
    { type: 'LoadBalancer', clusterIP: 'None', ports: [web] },
    'spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for LoadBalancer services',
  ],
  [
    'an address that is none',
    { clusterIP: '10.0.0', ports: [web] },
    'spec.clusterIPs[0]: Invalid value: "10.0.0": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
  ],
  [
    'two forms of its address that differ',
    { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.2'], ports: [web] },
    'spec.clusterIPs: Invalid value: ["10.0.0.2"]: first value must match `clusterIP`',
  ],
  [
    'only the newer form of its address',
    { clusterIPs: ['10.0.0.2'], ports: [web] },
    'spec.clusterIPs: Invalid value: ["10.0.0.2"]: must be empty when `clusterIP` is not specified',
  ],
  [
    'None among addresses',
    { clusterIP: 'None', clusterIPs: ['None', '10.0.0.1'], ports: [web] },
    'spec.clusterIPs: Invalid value: ["None","10.0.0.1"]: \'None\' must be the first and only value',
  ],
  [
    'two addresses of one family',
    { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', '10.0.0.2'], ports: [web] },
    'spec.clusterIPs: Invalid value: ["10.0.0.1","10.0.0.2"]: may specify no more than one IP for each IP family',
  ],
  [
    'an address of another family than it says',
    { clusterIP: '10.0.0.1', ipFamilies: ['IPv6'], ports: [web] },
    'spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`',
  ],
  ['one family twice', { ipFamilies: ['IPv4', 'IPv4'], ports: [web] }, 'spec.ipFamilies[1]: Duplicate value: "IPv4"'],
  [
    'an unknown family',
    { ipFamilies: ['IPX'], ports: [web] },
    'spec.ipFamilies[0]: Unsupported value: "IPX": supported values: "IPv4", "IPv6"',
  ],
  ['an alias of nothing', { type: 'ExternalName' }, 'spec.externalName: Required value'],
  ['an alias of a full name', { type: 'ExternalName', externalName: 'example.com.' }],
  [
    'an alias with an address',
    { type: 'ExternalName', externalName: 'a.b', clusterIP: '10.0.0.1', ipFamilyPolicy: 'SingleStack' },
    'spec.clusterIPs: Forbidden: may not be set for ExternalName services',
    'spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services',
  ],
  [
    'an address from outside that leads back',
    { ports: [web], externalIPs: ['127.0.0.1', 'x'] },
    'spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
    'spec.externalIPs[1]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
  ],
  [
    'faith for too long',
    { ports: [web], sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86401 } } },
    'spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400',
  ],
  [
    'an unknown faith',
    { ports: [web], sessionAffinity: 'Cookie' },
    'spec.sessionAffinity: Unsupported value: "Cookie": supported values: "ClientIP", "None"',
  ],
  [
    'what only load balancers have',
    {
      ports: [web],
      loadBalancerClass: 'a.b/c',
      allocateLoadBalancerNodePorts: false,
      loadBalancerSourceRanges: ['10.0.0.0/8'],
    },
    `spec.LoadBalancerSourceRanges: Forbidden: ${onlyBalancer}`,
    `spec.allocateLoadBalancerNodePorts: Forbidden: ${onlyBalancer}`,
    `spec.loadBalancerClass: Forbidden: ${onlyBalancer}`,
  ],
  [
    'a range that is none',
    { type: 'LoadBalancer', ports: [web], loadBalancerSourceRanges: [' 10.0.0.0/8 ', '10.0.0.1/8'] },
    'spec.LoadBalancerSourceRanges[1]: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length',
  ],
  [
    'a policy for traffic that cannot come',
    { ports: [web], externalTrafficPolicy: 'Local' },
    'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
  ],
  [
    'an unknown policy',
    { type: 'NodePort', ports: [web], externalTrafficPolicy: 'Near', internalTrafficPolicy: 'Far' },
    'spec.externalTrafficPolicy: Unsupported value: "Near": supported values: "Cluster", "Local"',
    'spec.internalTrafficPolicy: Unsupported value: "Far": supported values: "Cluster", "Local"',
  ],
  [
    'a health port without need',
    { type: 'LoadBalancer', ports: [web], healthCheckNodePort: 30000 },
    "spec.healthCheckNodePort: Invalid value: 30000: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
  ],
  ['a health port', { type: 'LoadBalancer', ports: [web], externalTrafficPolicy: 'Local', healthCheckNodePort: 30000 }],
  [
    'an unknown distribution',
    { ports: [web], trafficDistribution: 'Any' },
    'spec.trafficDistribution: Unsupported value: "Any": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"',
  ],
])('the spec of a Service with %s is judged', (_what, spec, ...errors) => {
  expect(create(Service, service(spec)).errors).toEqual(errors);
});

it('the spec of a Service is judged together with its annotations', () => {
  const ranges = 'service.beta.kubernetes.io/load-balancer-source-ranges';
  expect(create(Service, service({ ports: [web] }, { [ranges]: 'x, 10.0.0.0/8' })).errors).toEqual([
    `metadata.annotations[${ranges}]: Forbidden: ${onlyBalancer}`,
    `metadata.annotations[${ranges}]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`,
  ]);
  const [mode, hints] = ['service.kubernetes.io/topology-mode', 'service.kubernetes.io/topology-aware-hints'];
  expect(create(Service, service({ ports: [web] }, { [mode]: 'Auto', [hints]: 'Off' })).errors).toEqual([
    `metadata.annotations[${mode}]: Invalid value: "Auto": must match annotations[${hints}] when both are specified`,
  ]);
});

describe('a replaced Service', () => {
  const given = {
    clusterIP: '10.0.0.1',
    clusterIPs: ['10.0.0.1'],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
  };

  it.each<[string, object, object, ...string[]]>([
    ['keeps its address', { ...given, ports: [web] }, { ports: [web] }],
    [
      'cannot have another',
      { ...given, ports: [web] },
      { ...given, clusterIP: '10.0.0.2', ports: [web] },
      'spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set',
    ],
    [
      'cannot become headless',
      { ...given, ports: [web] },
      { ...given, clusterIP: 'None', ports: [web] },
      'spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set',
    ],
    [
      'cannot change its family',
      { ...given, ports: [web] },
      { ...given, ipFamilies: ['IPv6'], ports: [web] },
      'spec.ipFamilies[0]: Invalid value: ["IPv6"]: may not change once set',
      'spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`',
    ],
    ['can become an alias', { ...given, ports: [web] }, { ...given, type: 'ExternalName', externalName: 'a.b' }],
    [
      'stays with its load balancer',
      { ...given, type: 'LoadBalancer', loadBalancerClass: 'a.b/c', ports: [web] },
      { ...given, type: 'LoadBalancer', ports: [web] },
      'spec.loadBalancerClass: Invalid value: null: may not change once set',
    ],
    [
      'stays with its health port',
      { ...given, type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30001, ports: [web] },
      { ...given, type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30002, ports: [web] },
      'spec.healthCheckNodePort: Forbidden: field is immutable',
    ],
  ])('%s', (_what, before, after, ...errors) => {
    expect(update(Service, stored(before), service(after)).errors).toEqual(errors);
  });

  it('says that its first address cannot be taken away', () => {
    const old = stored({ ...given, ports: [web] });
    const { clusterIP: _, clusterIPs: __, ...bare } = old.spec;
    const rule = Service.rules?.[0];
    const without = { ...old, spec: bare };
    const context = { operation: 'update', old, oldRoot: old, root: without, parent: undefined } as const;
    const errors = rule?.(without, { ...context, subresource: undefined, apiVersion: 'v1' });
    expect(errors?.map(({ field, message }) => `${field}: ${message}`)).toEqual([
      'spec.clusterIPs[0]: Invalid value: null: primary clusterIP can not be unset',
    ]);
  });

  it('keeps values that an earlier release let through', () => {
    const old = stored({ type: 'LoadBalancer', ports: [web] });
    const lax = { loadBalancerSourceRanges: ['010.0.0.0/8'], clusterIP: '010.0.0.1', clusterIPs: ['010.0.0.1'] };
    const before = { ...old, spec: { ...old.spec, ...lax } };
    expect(update(Service, before, before).errors).toEqual([]);
  });
});

const status = (loadBalancer: object) => ({ loadBalancer });

it.each<[string, string, object, string[]]>([
  ['an address', 'LoadBalancer', { ingress: [{ ip: '1.2.3.4' }] }, []],
  ['a name', 'LoadBalancer', { ingress: [{ hostname: 'a.example.com' }] }, []],
  [
    'an address without a load balancer',
    'ClusterIP',
    { ingress: [{ ip: '1.2.3.4' }] },
    ["status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"],
  ],
  [
    'an address for a name',
    'LoadBalancer',
    { ingress: [{ hostname: '1.2.3.4' }] },
    ['status.loadBalancer.ingress[0].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address'],
  ],
  [
    'a mode without an address',
    'LoadBalancer',
    { ingress: [{ hostname: 'a', ipMode: 'VIP' }] },
    ['status.loadBalancer.ingress[0].ipMode: Forbidden: may not be specified when `ip` is not set'],
  ],
  [
    'an unknown mode',
    'LoadBalancer',
    { ingress: [{ ip: '1.2.3.4', ipMode: 'X' }] },
    ['status.loadBalancer.ingress[0].ipMode: Unsupported value: "X": supported values: "Proxy", "VIP"'],
  ],
])('the status of a Service with %s is judged', (_what, type, loadBalancer, errors) => {
  const old = stored({ type, ports: [web] });
  const written = update(Service, old, { ...old, status: status(loadBalancer) }, { subresource: 'status' });
  expect(written.errors).toEqual(errors);
});

it('the status of a Service says how an address is used', () => {
  const old = stored({ type: 'LoadBalancer', ports: [web] });
  const sent = { ...old, status: status({ ingress: [{ ip: '1.2.3.4' }] }) };
  const { object } = update(Service, old, sent, { subresource: 'status' });
  expect(object.status.loadBalancer.ingress).toEqual([{ ip: '1.2.3.4', ipMode: 'VIP' }]);
});

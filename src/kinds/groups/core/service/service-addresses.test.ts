import { describe, expect, it } from 'vitest';
import { create, update } from '../../../../../test/support/kinds/test-object.ts';
import type { IpFamily } from '../../../shapes/meta/addresses/ip-address.ts';
import { Service } from './service.ts';
import {
  allocatedTo,
  defaultServiceAddresses,
  needsClusterIp,
  needsHealthCheckNodePort,
  needsNodePorts,
  portsWithoutNodePort,
} from './service-addresses.ts';
import type { ServiceSpec } from './service-fields.ts';

const metadata = { name: 's', namespace: 'n' };
const made = (spec: object) => create(Service, { metadata, spec }).object;
const specOf = (spec: object): ServiceSpec => made(spec).spec;
const web = { name: 'web', port: 80, protocol: 'TCP', targetPort: 80 };
const tls = { name: 'tls', port: 443, protocol: 'TCP', targetPort: 443 };

describe('what a service needs', () => {
  it.each([
    ['a ClusterIP', {}, true],
    ['a NodePort', { type: 'NodePort' }, true],
    ['a headless service', { clusterIP: 'None' }, false],
    ['an alias', { type: 'ExternalName' }, false],
  ])('%s and a virtual address', (_what, spec, needs) => {
    expect(needsClusterIp(specOf(spec))).toBe(needs);
  });

  it.each([
    ['a ClusterIP', { ports: [web] }, false, []],
    ['a NodePort', { type: 'NodePort', ports: [{ ...web, nodePort: 30000 }, tls] }, true, ['tls']],
    ['a LoadBalancer', { type: 'LoadBalancer', ports: [web] }, true, ['web']],
    [
      'a LoadBalancer that does without',
      { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: [web] },
      false,
      [],
    ],
  ])('%s and node ports', (_what, spec, needs, ports) => {
    expect(needsNodePorts(specOf(spec))).toBe(needs);
    expect(portsWithoutNodePort(specOf(spec)).map((port) => port.name)).toEqual(ports);
  });

  it.each([
    ['a LoadBalancer', { type: 'LoadBalancer' }, false],
    ['a local LoadBalancer', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' }, true],
    ['a local NodePort', { type: 'NodePort', externalTrafficPolicy: 'Local' }, false],
  ])('%s and a port for health checks', (_what, spec, needs) => {
    expect(needsHealthCheckNodePort(specOf(spec))).toBe(needs);
  });
});

it.each([
  ['nothing', {}, [], []],
  ['an address', { clusterIP: '10.0.0.1' }, ['10.0.0.1'], []],
  ['nothing, headless', { clusterIP: 'None' }, [], []],
  [
    'ports',
    { type: 'NodePort', clusterIP: '10.0.0.1', ports: [{ ...web, nodePort: 30000 }, tls] },
    ['10.0.0.1'],
    [30000],
  ],
  [
    'one port for two protocols',
    {
      type: 'NodePort',
      ports: [
        { ...web, nodePort: 30000 },
        { ...web, protocol: 'UDP', nodePort: 30000 },
      ],
    },
    [],
    [30000],
  ],
  [
    'a port for health checks',
    { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 31000 },
    [],
    [31000],
  ],
  ['nothing any more', { type: 'LoadBalancer', healthCheckNodePort: 31000 }, [], []],
])('what a service holds: %s', (_what, spec, clusterIPs, nodePorts) => {
  expect(allocatedTo(specOf(spec))).toEqual({ clusterIPs, nodePorts });
});

describe('an update', () => {
  const given = {
    clusterIP: '10.0.0.1',
    clusterIPs: ['10.0.0.1'],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
  };
  const nodePort = {
    ...given,
    type: 'NodePort',
    ports: [
      { ...web, nodePort: 30000 },
      { ...tls, nodePort: 30001 },
    ],
  };
  const local = {
    ...given,
    type: 'LoadBalancer',
    loadBalancerClass: 'a.b/c',
    externalTrafficPolicy: 'Local',
    healthCheckNodePort: 31000,
    ports: [{ ...web, nodePort: 30000 }],
  };
  const spec = (before: object, after: object) => update(Service, made(before), { metadata, spec: after }).object.spec;

  it('that leaves out what was given keeps it', () => {
    expect(spec(nodePort, { type: 'NodePort', ports: [tls, web] })).toMatchObject({
      clusterIP: '10.0.0.1',
      clusterIPs: ['10.0.0.1'],
      ports: [
        { name: 'tls', nodePort: 30001 },
        { name: 'web', nodePort: 30000 },
      ],
    });
  });

  it('keeps the port for health checks', () => {
    const after = { type: 'LoadBalancer', loadBalancerClass: 'a.b/c', externalTrafficPolicy: 'Local', ports: [web] };
    expect(spec(local, after)).toMatchObject({ healthCheckNodePort: 31000, ports: [{ nodePort: 30000 }] });
  });

  it('does not keep a port that another one asks for', () => {
    const { ports } = spec(nodePort, { type: 'NodePort', ports: [web, { ...tls, nodePort: 30000 }] });
    expect(ports?.map((port) => port.nodePort)).toEqual([undefined, 30000]);
  });

  it('gives a new port of another name none', () => {
    const { ports } = spec(nodePort, { type: 'NodePort', ports: [{ ...web, name: 'new' }] });
    expect(ports?.[0]).not.toHaveProperty('nodePort');
  });

  it('from an older client that changes only clusterIP is followed', () => {
    expect(spec(given, { ...given, clusterIP: '10.0.0.9' }).clusterIPs).toEqual(['10.0.0.9']);
  });

  it('does not share anything with what was there', () => {
    const old = made({ ...given, ports: [web] });
    const { object } = update(Service, old, { metadata, spec: { ports: [web] } });
    expect(object.spec.clusterIPs).not.toBe(old.spec.clusterIPs);
  });

  it.each([
    [
      'to an alias releases everything',
      nodePort,
      { ...nodePort, type: 'ExternalName', externalName: 'a.b' },
      { type: 'ExternalName', externalName: 'a.b', sessionAffinity: 'None', internalTrafficPolicy: undefined },
    ],
    [
      'to a ClusterIP releases the ports',
      nodePort,
      { ...nodePort, type: 'ClusterIP' },
      { ...given, type: 'ClusterIP', externalTrafficPolicy: undefined },
    ],
    [
      'to a NodePort releases what only a load balancer has',
      { ...local, externalTrafficPolicy: 'Local' },
      { ...local, type: 'NodePort' },
      {
        ...given,
        type: 'NodePort',
        healthCheckNodePort: undefined,
        loadBalancerClass: undefined,
        allocateLoadBalancerNodePorts: undefined,
      },
    ],
  ])('%s', (_what, before, after, expected) => {
    const sent = structuredClone(made(after).spec);
    const changed = spec(before, sent);
    for (const [field, value] of Object.entries(expected)) {
      expect(changed[field as keyof ServiceSpec], field).toEqual(value);
    }
    if (changed.type !== 'NodePort')
      for (const port of changed.ports ?? []) expect(port).not.toHaveProperty('nodePort');
  });

  it('to another type leaves what the client changed as well, for validation to speak', () => {
    const after = { ...given, ports: [{ ...web, nodePort: 32000 }] };
    expect(update(Service, made(nodePort), { metadata, spec: after }).errors).toEqual([
      "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
    ]);
  });

  it('away from a load balancer clears its status', () => {
    const old = made({ ...given, type: 'LoadBalancer', ports: [web] });
    old.status.loadBalancer = { ingress: [{ ip: '1.2.3.4', ipMode: 'VIP' }] };
    const { object } = update(Service, old, { metadata, spec: { ...given, ports: [web] } });
    expect(object.status).toEqual({ loadBalancer: {} });
    expect(old.status.loadBalancer.ingress).toHaveLength(1);
  });
});

describe('the IP families of a service', () => {
  const v4: IpFamily[] = ['IPv4'];
  const both: IpFamily[] = ['IPv4', 'IPv6'];

  it.each<[string, object, IpFamily[], string | undefined, string[] | undefined]>([
    ['a plain one', {}, v4, 'SingleStack', ['IPv4']],
    ['a plain one with both', {}, both, 'SingleStack', ['IPv4']],
    ['one with an address', { clusterIP: 'fd00::1' }, both, 'SingleStack', ['IPv6']],
    ['one that prefers both', { ipFamilyPolicy: 'PreferDualStack' }, both, 'PreferDualStack', ['IPv4', 'IPv6']],
    ['one that prefers both in vain', { ipFamilyPolicy: 'PreferDualStack' }, v4, 'PreferDualStack', ['IPv4']],
    [
      'one that wants both, the second first',
      { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6'] },
      both,
      'RequireDualStack',
      ['IPv6', 'IPv4'],
    ],
    ['a headless one', { clusterIP: 'None', selector: { a: 'b' } }, v4, 'SingleStack', ['IPv4']],
    ['a headless one without a selector', { clusterIP: 'None' }, v4, 'RequireDualStack', ['IPv4', 'IPv6']],
    ['an alias', { type: 'ExternalName' }, v4, undefined, undefined],
  ])('%s', (_what, given, cluster, policy, families) => {
    const spec = specOf(given);
    expect(defaultServiceAddresses(spec, undefined, cluster)).toEqual([]);
    expect([spec.ipFamilyPolicy, spec.ipFamilies]).toEqual([policy, families]);
  });

  it.each<[string, object, IpFamily[], string]>([
    [
      'both where there is one',
      { ipFamilyPolicy: 'RequireDualStack' },
      v4,
      'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
    ],
    [
      'the other one',
      { ipFamilies: ['IPv6'] },
      v4,
      'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
    ],
    [
      'an address of the other one',
      { clusterIP: 'fd00::1' },
      v4,
      'spec.clusterIPs[0]: Invalid value: ["fd00::1"]: IPv6 is not configured on this cluster',
    ],
    [
      'an unknown one',
      { ipFamilies: ['IPX'] },
      v4,
      'spec.ipFamilies[0]: Unsupported value: "IPX": supported values: "IPv4", "IPv6"',
    ],
    [
      'that of a malformed address',
      { clusterIP: '10.0.0' },
      v4,
      'spec.clusterIPs[0]: Invalid value: "10.0.0": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
    [
      'two of a single one',
      { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4', 'IPv6'] },
      both,
      "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
    ],
  ])('cannot be %s', (_what, given, cluster, error) => {
    const errors = defaultServiceAddresses(specOf(given), undefined, cluster);
    expect(errors.map(({ field, message }) => `${field}: ${message}`)).toEqual([error]);
  });

  const dual = {
    clusterIP: '10.0.0.1',
    clusterIPs: ['10.0.0.1', 'fd00::1'],
    ipFamilies: ['IPv4', 'IPv6'],
    ipFamilyPolicy: 'RequireDualStack',
  };

  it('are kept by an update that does not speak of them', () => {
    const { object } = update(Service, made(dual), { metadata, spec: {} });
    expect(defaultServiceAddresses(object.spec, specOf(dual), both)).toEqual([]);
    expect(object.spec).toMatchObject(dual);
  });

  it('become one when the policy says so', () => {
    const { object } = update(Service, made(dual), { metadata, spec: { ...dual, ipFamilyPolicy: 'SingleStack' } });
    expect(defaultServiceAddresses(object.spec, specOf(dual), both)).toEqual([]);
    expect(object.spec).toMatchObject({
      clusterIPs: ['10.0.0.1'],
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
    });
  });

  it('become one only when the policy says so', () => {
    const less = { ...dual, clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'] };
    const errors = defaultServiceAddresses(specOf(less), specOf(dual), both);
    expect(errors.map(({ message }) => message)).toEqual([
      'Invalid value: "RequireDualStack": must be \'SingleStack\' to release the secondary cluster IP',
      'Invalid value: "RequireDualStack": must be \'SingleStack\' to release the secondary IP family',
    ]);
  });

  it('stay as they are where they are only preferred and the cluster has changed', () => {
    const preferred = { ...dual, ipFamilyPolicy: 'PreferDualStack', clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'] };
    const spec = specOf(preferred);
    expect(defaultServiceAddresses(spec, specOf(preferred), both)).toEqual([]);
    expect(spec.ipFamilies).toEqual(['IPv4']);
  });
});

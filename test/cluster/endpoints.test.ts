import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Namespace } from '../../src/kinds/groups/core/namespace.ts';
import { Node } from '../../src/kinds/groups/core/node/node.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { Endpoints } from '../../src/kinds/groups/core/service/endpoints.ts';
import { Service } from '../../src/kinds/groups/core/service/service.ts';
import { EndpointSlice } from '../../src/kinds/groups/discovery/endpoint-slice.ts';
import { type Cluster, startCluster } from '../support/cluster/cluster.ts';

let cluster: Cluster;

beforeEach(async () => {
  cluster = await startCluster();
  await cluster.client.of(Namespace).create({ metadata: { name: 'x' } });
  await cluster.client.of(Node).create({
    metadata: { name: 'n', labels: { 'topology.kubernetes.io/zone': 'east' } },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  } as any);
});
afterEach(() => cluster.stop());

const T0 = '2030-01-01T00:00:00Z';
const all = () => ({
  pods: cluster.client.of(Pod).in('x'),
  services: cluster.client.of(Service).in('x'),
  endpoints: cluster.client.of(Endpoints).in('x'),
  slices: cluster.client.of(EndpointSlice).in('x'),
});
const service = (spec: object = {}, metadata: object = {}) =>
  all().services.create({
    metadata: { name: 'web', labels: { tier: 'front' }, ...metadata },
    spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 'http' }], ...spec },
  } as any);
const pod = async (name: string, { ip, ready = true, port = 8080, ...spec }: any = {}) => {
  await all().pods.create({
    metadata: { name, labels: { app: 'web' } },
    spec: {
      nodeName: 'n',
      containers: [{ name: 'c', image: 'i', ports: [{ name: 'http', containerPort: port }] }],
      ...spec,
    },
  } as any);
  await state(name, { ip, ready });
};
const state = (name: string, { ip, ready, phase = 'Running' }: any) =>
  all().pods.patchStatus(name, {
    type: 'merge',
    changes: {
      status: {
        phase,
        ...(ip ? { podIP: ip, podIPs: [{ ip }] } : {}),
        conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: now() }],
      },
    },
  });
const now = () => `${new Date(cluster.clock.now()).toISOString().slice(0, 19)}Z`;
const settled = () => cluster.clock.advance(3000);
const endpoints = async () => {
  await settled();
  return all().endpoints.get('web');
};
const slices = async () => {
  await settled();
  return (await all().slices.list()).items;
};
const ips = (list: readonly any[] = []) => list.map(({ ip }) => ip);

describe('the Endpoints of a service', () => {
  it('have its pods: which are ready, which are not, and where they are', async () => {
    await service();
    await pod('a', { ip: '10.0.0.2' });
    await pod('b', { ip: '10.0.0.1', ready: false });
    await pod('no-address');
    const { metadata, subsets } = await endpoints();
    const { uid } = (await all().pods.get('a')).metadata;
    expect(subsets).toEqual([
      {
        addresses: [{ ip: '10.0.0.2', nodeName: 'n', targetRef: { kind: 'Pod', namespace: 'x', name: 'a', uid } }],
        notReadyAddresses: [expect.objectContaining({ ip: '10.0.0.1' })],
        ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      },
    ]);
    expect(metadata.labels).toEqual({ tier: 'front', 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' });
    expect(metadata.annotations).toEqual({ 'endpoints.kubernetes.io/last-change-trigger-time': T0 });
  });

  it('lose a pod that terminates, fails its probe or has ended, and gain a new one', async () => {
    await service();
    for (const [name, ip] of [
      ['a', '10.0.0.1'],
      ['b', '10.0.0.2'],
      ['c', '10.0.0.3'],
    ] as const)
      await pod(name, { ip });
    expect(ips((await endpoints()).subsets?.[0]?.addresses)).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3']);
    await all().pods.delete('a');
    await state('b', { ready: false });
    await state('c', { ready: false, phase: 'Succeeded' });
    await pod('d', { ip: '10.0.0.4' });
    const [subset] = (await endpoints()).subsets ?? [];
    expect(ips(subset?.addresses)).toEqual(['10.0.0.4']);
    expect(ips(subset?.notReadyAddresses)).toEqual(['10.0.0.2']);
  });

  it('follow a label and a selector', async () => {
    await service();
    await pod('a', { ip: '10.0.0.1' });
    await all().pods.patch('a', { type: 'merge', changes: { metadata: { labels: { app: 'other' } } } });
    expect((await endpoints()).subsets).toBeUndefined();
    await all().services.patch('web', { type: 'merge', changes: { spec: { selector: { app: 'other' } } } });
    expect((await endpoints()).subsets).toHaveLength(1);
  });

  it('group ports by the pods that have them', async () => {
    const ports = [
      { name: 'http', port: 80, targetPort: 'http' },
      { name: 'stats', port: 9090 },
    ];
    await service({ ports });
    await pod('a', { ip: '10.0.0.1', port: 8080 });
    await pod('b', { ip: '10.0.0.2', port: 8081 });
    const { subsets } = await endpoints();
    expect(subsets?.map(({ addresses, ports: found }) => [ips(addresses), found?.map(({ port }) => port)])).toEqual([
      [['10.0.0.1'], [8080]],
      [['10.0.0.2'], [8081]],
      [['10.0.0.1', '10.0.0.2'], [9090]],
    ]);
  });

  it('have a headless service without ports, DNS host names, and unready pods with publishNotReadyAddresses', async () => {
    await service({ clusterIP: 'None', ports: [], publishNotReadyAddresses: true });
    await pod('a', { ip: '10.0.0.1', ready: false, hostname: 'first', subdomain: 'web' });
    const { metadata, subsets } = await endpoints();
    expect(subsets).toMatchObject([{ addresses: [{ ip: '10.0.0.1', hostname: 'first' }] }]);
    expect(metadata.labels).toHaveProperty(['service.kubernetes.io/headless'], '');
    const [slice] = await slices();
    expect(slice).toMatchObject({
      metadata: { labels: { 'service.kubernetes.io/headless': '' } },
      endpoints: [{ hostname: 'first', conditions: { ready: true, serving: false, terminating: false } }],
      ports: [],
    });
  });

  it('are deleted with their service', async () => {
    await service();
    await pod('a', { ip: '10.0.0.1' });
    await settled();
    await all().services.delete('web');
    await settled();
    expect((await all().endpoints.list()).items).toEqual([]);
    expect(await slices()).toEqual([]);
    expect(cluster.complaints).toEqual([]);
  });

  it('are recreated when they are deleted', async () => {
    await service();
    await settled();
    await all().endpoints.delete('web');
    const [slice] = await slices();
    await all().slices.delete(slice?.metadata.name ?? '');
    expect((await endpoints()).metadata.name).toBe('web');
    expect(await slices()).toHaveLength(1);
  });
});

describe('a service without selector', () => {
  it('keeps Endpoints that another client wrote, and they are mirrored', async () => {
    await all().endpoints.create({
      metadata: { name: 'web', labels: { mine: 'yes' } },
      subsets: [{ addresses: [{ ip: '10.1.0.1' }, { ip: 'fd00::1' }], ports: [{ port: 5432 }] }],
    } as any);
    expect(await slices()).toEqual([]);
    await service({ selector: undefined });
    const found = await slices();
    expect(found.map(({ addressType, endpoints: each }) => [addressType, each[0]?.addresses])).toEqual(
      expect.arrayContaining([
        ['IPv4', ['10.1.0.1']],
        ['IPv6', ['fd00::1']],
      ]),
    );
    expect(found[0]?.metadata).toMatchObject({
      labels: {
        mine: 'yes',
        'kubernetes.io/service-name': 'web',
        'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
      },
      ownerReferences: [{ kind: 'Endpoints', name: 'web', controller: true }],
    });
    expect((await endpoints()).subsets?.[0]?.addresses).toHaveLength(2);
    const changes = { subsets: [{ addresses: [{ ip: '10.1.0.2' }], ports: [{ port: 5432 }] }] };
    await all().endpoints.patch('web', { type: 'merge', changes });
    expect(await slices()).toMatchObject([{ endpoints: [{ addresses: ['10.1.0.2'], conditions: { ready: true } }] }]);
    await all().services.patch('web', { type: 'merge', changes: { spec: { selector: { app: 'web' } } } });
    expect(await slices()).toMatchObject([
      { metadata: { labels: { 'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io' } } },
    ]);
    expect((await endpoints()).subsets).toBeUndefined();
  });

  it('of the type ExternalName is skipped', async () => {
    await service({ type: 'ExternalName', externalName: 'example.com', ports: [] });
    await pod('a', { ip: '10.0.0.1' });
    await settled();
    expect((await all().endpoints.list()).items).toEqual([]);
    expect(await slices()).toEqual([]);
  });
});

describe('the slices of a service', () => {
  it('are one, empty slice while there are no pods', async () => {
    const { metadata } = await service();
    expect(await slices()).toMatchObject([
      {
        metadata: {
          generateName: 'web-',
          labels: {
            tier: 'front',
            'kubernetes.io/service-name': 'web',
            'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
          },
          annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': T0 },
          ownerReferences: [{ kind: 'Service', name: 'web', uid: metadata.uid, controller: true }],
        },
        addressType: 'IPv4',
        endpoints: [],
        ports: [],
      },
    ]);
  });

  it('have the conditions and location of each pod', async () => {
    await service({ trafficDistribution: 'PreferSameNode' });
    await pod('a', { ip: '10.0.0.1' });
    const [before] = await slices();
    expect(before).toMatchObject({
      ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      endpoints: [
        {
          addresses: ['10.0.0.1'],
          conditions: { ready: true, serving: true, terminating: false },
          nodeName: 'n',
          zone: 'east',
          targetRef: { kind: 'Pod', name: 'a' },
          hints: { forZones: [{ name: 'east' }], forNodes: [{ name: 'n' }] },
        },
      ],
    });
    const ready = now();
    await state('a', { ready: false });
    const [failing] = await slices();
    expect(failing?.metadata.annotations).toEqual({ 'endpoints.kubernetes.io/last-change-trigger-time': ready });
    expect(failing?.endpoints[0]?.conditions).toEqual({ ready: false, serving: false, terminating: false });
    await state('a', { ready: true });
    await all().pods.delete('a');
    const [after] = await slices();
    expect(after?.metadata.name).toBe(before?.metadata.name);
    expect(after?.endpoints[0]).toMatchObject({ conditions: { ready: false, serving: true, terminating: true } });
  });

  it('hold a hundred each, and change as little as possible', async () => {
    await service();
    await Promise.all(Array.from({ length: 250 }, (_, index) => pod(`p${index}`, { ip: `10.0.1.${index}` })));
    const before = await slices();
    const sizes = (list: readonly any[]) => list.map(({ endpoints: each }) => each.length);
    const sum = (list: readonly number[]) => list.reduce((total, each) => total + each, 0);
    expect(sum(sizes(before))).toBe(250);
    expect(Math.max(...sizes(before))).toBeLessThanOrEqual(100);
    const victim = before[0]?.endpoints[3]?.targetRef?.name ?? '';
    await all().pods.delete(victim, { gracePeriodSeconds: 0 });
    const after = await slices();
    const versions = (list: readonly any[]) => list.map(({ metadata }) => metadata.resourceVersion);
    expect(versions(after).filter((version) => !versions(before).includes(version))).toHaveLength(1);
    expect(sum(sizes(after))).toBe(249);
  });
});

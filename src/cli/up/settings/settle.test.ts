import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { machineName } from '../../flags/machine-name.ts';
import type { AgreedSettings } from './agreed-settings.ts';
import { type GivenFlags, type Remembered, rememberedOf, type Surroundings, settle } from './settle.ts';

const none: Surroundings = {
  ...{ otherClusters: async () => [], serviceRanges: async () => [], addresses: () => [], agreed: async () => ({}) },
};

test('the default cluster has the well-known port and range', async () => {
  expect(rememberedOf(await settle({}, {}, none))).toEqual({
    bindAddress: '127.0.0.1',
    clusterDomain: 'cluster.local',
    port: 6443,
    store: 'embedded',
    backups: true,
    backupKeep: { hourly: 24, daily: 7 },
    runtime: 'auto',
    serviceClusterIpRange: '10.96.0.0/16',
    clusterCidr: '10.244.0.0/16',
    serviceNodePortRange: { first: 30_000, last: 32_767 },
    remoteUpgrades: true,
  });
});

test('given values take precedence over remembered ones, and those over defaults', async () => {
  const remembered: Remembered = {
    port: 7000,
    bindAddress: '127.0.0.2',
    serviceClusterIpRange: '10.99.0.0/24',
  };
  expect(await settle({ port: 7001 }, remembered, none)).toMatchObject({ ...remembered, port: 7001 });
});

test('a cluster of another name gets the next port and range that no cluster remembers and nobody listens on', async () => {
  const others: Remembered[] = [{ port: 6444, serviceClusterIpRange: '10.97.0.0/16' }];
  const listener = createServer().listen(6445, '127.0.0.1');
  await once(listener, 'listening').catch(() => undefined);
  const { port, serviceClusterIpRange } = await settle(
    { name: 'two' },
    {},
    { ...none, otherClusters: async () => others },
  );
  listener.close();
  expect(port).toBeGreaterThan(6445);
  expect(serviceClusterIpRange).toBe('10.98.0.0/16');
});

test('pods do not get addresses that the machine already has', async () => {
  const addresses = () => ['127.0.0.1', '10.244.0.1', '10.24.5.1', 'fe80::1'];
  expect(await settle({}, {}, { ...none, addresses })).toMatchObject({ clusterCidr: '10.245.0.0/16' });
  const remembered: Remembered = { clusterCidr: '10.244.0.0/16' };
  expect(await settle({}, remembered, { ...none, addresses })).toMatchObject(remembered);
});

test('services do not get addresses that another cluster has rules for, also under the default name', async () => {
  const elsewhere = {
    directory: '/x',
    runtime: 'auto',
    serviceClusterIpRange: '10.96.0.0/15',
    clusterCidr: '10.244.0.0/16',
  };
  const beside = { ...none, otherClusters: async () => [elsewhere], serviceRanges: async () => ['10.98.0.0/16'] };
  expect(await settle({}, {}, beside)).toMatchObject({
    ...{ port: 6443, serviceClusterIpRange: '10.99.0.0/16', clusterCidr: '10.245.0.0/16' },
  });
  const wellKnown = { serviceClusterIpRange: '10.96.0.0/16' };
  expect(await settle({ runtime: 'simulated' }, {}, beside)).toMatchObject(wellKnown);
  expect(await settle({ nodes: 0 }, {}, beside)).toMatchObject(wellKnown);
  expect(await settle({}, wellKnown, beside)).toMatchObject(wellKnown);
  const simulated = { ...beside, otherClusters: async () => [{ ...elsewhere, runtime: 'simulated' }] };
  expect(await settle({}, {}, simulated)).toMatchObject(wellKnown);
});

test('the store and the service range of a directory cannot change', async () => {
  const remembered: Remembered = { store: 'embedded', serviceClusterIpRange: '10.96.0.0/16' };
  await expect(settle({ store: 'etcd' }, remembered, none)).rejects.toThrow(
    'stored in embedded: qd store migrate moves them, and --store etcd needs another --data-dir',
  );
  await expect(settle({ serviceClusterIpRange: '10.9.0.0/16' }, remembered, none)).rejects.toThrow('cannot change');
});

test('etcd and its addresses must be given together', async () => {
  await expect(settle({ store: 'etcd' }, {}, none)).rejects.toThrow('--store etcd needs --etcd-servers');
  await expect(settle({ etcdServers: ['http://a:1'] }, {}, none)).rejects.toThrow('needs --store etcd');
  expect(await settle({ store: 'etcd', etcdServers: ['http://a:1'] }, {}, none)).toMatchObject({
    store: 'etcd',
    etcdServers: ['http://a:1'],
  });
});

test('certificates for etcd need --store etcd, are remembered, and a certificate needs its key', async () => {
  const tls = { etcdCafile: '/ca', etcdCertfile: '/cert', etcdKeyfile: '/key' };
  await expect(settle({ etcdCafile: '/ca' }, {}, none)).rejects.toThrow('--etcd-cafile needs --store etcd');
  const half = { store: 'etcd', etcdServers: ['https://a:1'], etcdCertfile: '/cert' } as const;
  await expect(settle(half, {}, none)).rejects.toThrow('--etcd-certfile and --etcd-keyfile must be given together');
  const first = await settle({ store: 'etcd', etcdServers: ['https://a:1'], ...tls }, {}, none);
  expect(first).toMatchObject(tls);
  expect(await settle({}, rememberedOf(first), none)).toEqual(first);
});

test('settings that are not remembered come from the command line or their defaults', async () => {
  const remembered = { insecurePort: 1, authorizationMode: ['AlwaysAllow'] } as const;
  expect(await settle({ maxConnections: 7 }, remembered, none)).toMatchObject({
    ...{ name: 'quarterdeck', maxConnections: 7, maxConnectionsPerAddress: 2_000 },
    ...{ insecurePort: 0, authorizationMode: ['Node', 'RBAC'] },
  });
});

test('a store that does not outlive the process can be changed', async () => {
  const remembered: Remembered = { store: 'memory', serviceClusterIpRange: '10.96.0.0/16' };
  const given = { store: 'embedded', serviceClusterIpRange: '10.9.0.0/16' } as const;
  expect(await settle(given, remembered, none)).toMatchObject(given);
});

test('a value that only another release knows is rejected', async () => {
  const remembered = { store: 'cloud' } as unknown as Remembered;
  await expect(settle({}, remembered, none)).rejects.toThrow('cluster.json says --store cloud, which this qd does not');
});

describe('on a store that other servers use', () => {
  const shared: Remembered = { store: 'etcd', etcdServers: ['http://127.0.0.1:2379'] };
  const agreed: AgreedSettings = {
    serviceClusterIpRange: '10.50.0.0/16',
    serviceNodePortRange: { first: 31_000, last: 31_999 },
    clusterCidr: '10.60.0.0/16',
    clusterDomain: 'lab.example',
  };
  const cluster: Surroundings = { ...none, agreed: async () => agreed };

  test('a new server adopts the settings of the cluster, under any name', async () => {
    expect(await settle({ ...shared, name: 'two' }, {}, cluster)).toMatchObject(agreed);
  });

  test('a server that is told otherwise is rejected with all differences', async () => {
    const given: GivenFlags = {
      ...shared,
      serviceClusterIpRange: '10.51.0.0/16',
      serviceNodePortRange: { first: 30_000, last: 32_767 },
    };
    await expect(settle(given, {}, cluster)).rejects.toThrow(
      'this server does not agree with the cluster in its store: ' +
        '--service-cluster-ip-range is 10.50.0.0/16 in the cluster, and 10.51.0.0/16 here; ' +
        '--service-node-port-range is 31000-31999 in the cluster, and 30000-32767 here',
    );
  });

  test('a server that remembers another value is rejected, unless the command line has that of the cluster', async () => {
    const remembered: Remembered = { ...shared, clusterDomain: 'other.example' };
    await expect(settle({}, remembered, cluster)).rejects.toThrow('--cluster-domain is lab.example in the cluster');
    expect(await settle({ clusterDomain: 'lab.example' }, remembered, cluster)).toMatchObject(agreed);
  });

  test('nodes have the name of the machine, whatever it is called later', async () => {
    const { nodeName } = await settle(shared, {}, cluster);
    expect(nodeName).toBe(machineName());
    expect(await settle({}, { ...shared, nodeName: 'former' }, cluster)).toMatchObject({ nodeName: 'former' });
  });

  test('no other store is asked', async () => {
    expect(await settle({}, {}, cluster)).toMatchObject({ clusterDomain: 'cluster.local' });
  });
});

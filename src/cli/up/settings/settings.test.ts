import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { type Given, type Remembered, settle } from './settings.ts';

const flags = (given: Partial<Given> = {}): Given => ({ name: 'quarterdeck', ...given });
const none = async () => [];

test('the default cluster has the well-known port and range', async () => {
  expect(await settle(flags(), {}, none)).toEqual({
    bindAddress: '127.0.0.1',
    port: 6443,
    store: 'embedded',
    serviceClusterIpRange: '10.96.0.0/16',
    serviceNodePortRange: { first: 30_000, last: 32_767 },
  });
});

test('what is given stands before what is remembered, and that before the defaults', async () => {
  const remembered: Partial<Remembered> = {
    port: 7000,
    bindAddress: '127.0.0.2',
    serviceClusterIpRange: '10.99.0.0/24',
  };
  expect(await settle(flags({ port: 7001 }), remembered, none)).toMatchObject({ ...remembered, port: 7001 });
});

test('another name takes the next port and range that no cluster remembers and nobody listens on', async () => {
  const others: Partial<Remembered>[] = [{ port: 6444, serviceClusterIpRange: '10.97.0.0/16' }];
  const listener = createServer().listen(6445, '127.0.0.1');
  await once(listener, 'listening').catch(() => undefined);
  const { port, serviceClusterIpRange } = await settle(flags({ name: 'two' }), {}, async () => others);
  listener.close();
  expect(port).toBeGreaterThan(6445);
  expect(serviceClusterIpRange).toBe('10.98.0.0/16');
});

test('a directory keeps its store and its service addresses', async () => {
  const remembered: Partial<Remembered> = { store: 'embedded', serviceClusterIpRange: '10.96.0.0/16' };
  await expect(settle(flags({ store: 'etcd' }), remembered, none)).rejects.toThrow('keeps its objects in embedded');
  await expect(settle(flags({ serviceClusterIpRange: '10.9.0.0/16' }), remembered, none)).rejects.toThrow(
    'cannot change',
  );
});

test('etcd and its addresses belong together', async () => {
  await expect(settle(flags({ store: 'etcd' }), {}, none)).rejects.toThrow('--store etcd needs --etcd-servers');
  await expect(settle(flags({ etcdServers: ['http://a:1'] }), {}, none)).rejects.toThrow('needs --store etcd');
  expect(await settle(flags({ store: 'etcd', etcdServers: ['http://a:1'] }), {}, none)).toMatchObject({
    store: 'etcd',
    etcdServers: ['http://a:1'],
  });
});

test('the certificates for etcd go with it, are remembered, and a certificate goes with its key', async () => {
  const tls = { etcdCafile: '/ca', etcdCertfile: '/cert', etcdKeyfile: '/key' };
  await expect(settle(flags({ etcdCafile: '/ca' }), {}, none)).rejects.toThrow('--etcd-cafile needs --store etcd');
  const half = flags({ store: 'etcd', etcdServers: ['https://a:1'], etcdCertfile: '/cert' });
  await expect(settle(half, {}, none)).rejects.toThrow('--etcd-certfile and --etcd-keyfile belong together');
  const first = await settle(flags({ store: 'etcd', etcdServers: ['https://a:1'], ...tls }), {}, none);
  expect(first).toMatchObject(tls);
  expect(await settle(flags(), first, none)).toEqual(first);
});

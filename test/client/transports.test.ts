/** Tests one contract for both transports, against the real server. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiError } from '../../src/api/errors.ts';
import { silent } from '../../src/base/log.ts';
import { systemRandom } from '../../src/base/random.ts';
import { ControlledClock, systemClock } from '../../src/base/time/clock.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { InformerFactory } from '../../src/client/informer/informer-factory.ts';
import { directTransport } from '../../src/client/transport/direct-transport.ts';
import { httpsTransport } from '../../src/client/transport/http/https-transport.ts';
import type { Transport } from '../../src/client/transport/transport.ts';
import { allKinds } from '../../src/kinds/all.ts';
import { Deployment } from '../../src/kinds/groups/apps/deployment.ts';
import { ConfigMap } from '../../src/kinds/groups/core/configuration/config-map.ts';
import { Namespace } from '../../src/kinds/groups/core/namespace.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { createAuthenticator } from '../../src/server/access/authn/authenticator.ts';
import { createServer, type Server } from '../../src/server/index.ts';
import { createHttpServer } from '../../src/server/serving/http/server.ts';
import { MemoryStore } from '../../src/store/memory/memory-store.ts';
import { testAuthority } from '../support/tls.ts';

const USER = { name: 'admin', groups: ['system:masters'] };

interface Opened {
  readonly transport: Transport;
  close(): Promise<void>;
}

const transports: Record<string, (server: Server) => Promise<Opened>> = {
  direct: async (server) => ({ transport: directTransport(server.direct(USER)), close: async () => {} }),

  https: async ({ handle, registry, backends, authorizer }) => {
    const authority = await testAuthority();
    const http = createHttpServer({
      handle,
      registry,
      backends,
      authorizer,
      tls: { ...(await authority.server()), ca: authority.ca },
      authenticate: createAuthenticator({ clock: systemClock, tokens: [], anonymous: false }),
      log: silent,
      clock: systemClock,
      version: { gitVersion: 'v1.36.4' } as any,
      isReady: () => true,
    });
    const { port } = await http.listen(0, '127.0.0.1');
    const client = await authority.client(USER.name, USER.groups[0]);
    const transport = httpsTransport({ server: `https://127.0.0.1:${port}`, ca: authority.ca, ...client });
    return {
      transport,
      close: async () => {
        transport.close();
        await http.close();
      },
    };
  },
};

const named = (name: string) => ({ metadata: { name, namespace: 'default' } });

const deployment = {
  ...named('web'),
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
  },
};

describe.each(Object.entries(transports))('the client over %s', (_, open) => {
  let clock: ControlledClock;
  let store: MemoryStore;
  let server: Server;
  let opened: Opened;
  let client: Client;

  beforeEach(async () => {
    clock = new ControlledClock();
    store = new MemoryStore({ clock });
    server = await createServer({ store, kinds: allKinds, clock, freeze: true });
    opened = await open(server);
    client = createClient(opened.transport);
  });
  afterEach(async () => {
    await opened.close();
    server.close();
    await store.close();
  });

  it('creates, reads, replaces, patches and deletes', async () => {
    const maps = client.of(ConfigMap).in('default');
    const created = await maps.create({ ...named('a'), data: { x: '1' } });
    expect(created.metadata.uid).toBeTruthy();
    expect(await maps.get('a')).toEqual(created);
    const updated = await maps.update({ ...created, data: { x: '2' } });
    expect(updated.data).toEqual({ x: '2' });
    await expect(maps.update({ ...created, data: { x: '3' } })).rejects.toMatchObject({ reason: 'Conflict' });
    const merged = await maps.patch('a', { type: 'merge', changes: { data: { y: '1' } } });
    expect(merged.data).toEqual({ x: '2', y: '1' });
    const operations = [{ op: 'remove', path: '/data/x' }] as const;
    expect((await maps.patch('a', { type: 'json', operations })).data).toEqual({ y: '1' });
    const changes = { metadata: { finalizers: ['example.com/hold'] } };
    expect((await maps.patch('a', { type: 'strategic', changes })).metadata.finalizers).toEqual(['example.com/hold']);
    await maps.patch('a', { type: 'merge', changes: { metadata: { finalizers: null } } });
    await expect(maps.delete('a', { preconditions: { uid: 'other' } })).rejects.toMatchObject({ reason: 'Conflict' });
    await maps.delete('a', { preconditions: { uid: created.metadata.uid } });
    await expect(maps.get('a')).rejects.toMatchObject({ reason: 'NotFound' });
  });

  it('changes nothing in a dry run', async () => {
    const maps = client.of(ConfigMap).in('default');
    expect((await maps.create(named('a'), { dryRun: true })).metadata.uid).toBeTruthy();
    await expect(maps.get('a')).rejects.toMatchObject({ reason: 'NotFound' });
  });

  it('lists by selector and page by page, and deletes what it selects', async () => {
    const maps = client.of(ConfigMap).in('default');
    for (let i = 0; i < 7; i++) {
      await maps.create({ metadata: { name: `m${i}`, labels: { odd: String(i % 2) } } });
    }
    const names = async (selector?: string) =>
      (await maps.listAll({ limit: 2, labelSelector: selector })).items.map(({ metadata }) => metadata.name);
    expect(await names()).toEqual(['m0', 'm1', 'm2', 'm3', 'm4', 'm5', 'm6']);
    expect(await names('odd=1')).toEqual(['m1', 'm3', 'm5']);
    expect((await client.of(ConfigMap).list({ fieldSelector: 'metadata.name=m2' })).items).toHaveLength(1);
    await maps.deleteCollection({ labelSelector: 'odd=1' });
    expect(await names()).toEqual(['m0', 'm2', 'm4', 'm6']);
  });

  it('scales, sets the status, and speaks older versions', async () => {
    const deployments = client.of(Deployment).in('default');
    const created = await deployments.create(deployment);
    expect(await deployments.scale('web')).toEqual({ replicas: 3, observed: 0, selector: 'app=web' });
    expect((await deployments.setScale('web', 5)).replicas).toBe(5);
    const status = { ...created.status, observedGeneration: 7 };
    expect(
      (await deployments.updateStatus({ ...created, metadata: named('web').metadata, status })).status,
    ).toMatchObject(status);
    await deployments.patchStatus('web', { type: 'merge', changes: { status: { observedGeneration: 8 } } });
    const older = await client.of(Deployment, 'extensions/v1beta1').in('default').get('web');
    expect(older).toMatchObject({
      apiVersion: 'extensions/v1beta1',
      spec: { replicas: 5 },
      status: { observedGeneration: 8 },
    });
    expect((await client.of(Deployment, 'extensions/v1beta1').in('default').scale('web')).selector).toBe('app=web');
  });

  it('binds and evicts through subresources', async () => {
    await client.of(Pod).create({ ...named('p'), spec: { containers: [{ name: 'c', image: 'nginx' }] } });
    const pods = client.of(Pod).in('default');
    await pods.subresource('p', 'binding').create({ target: { kind: 'Node', name: 'n' } });
    expect((await pods.get('p')).spec.nodeName).toBe('n');
    await pods
      .subresource('p', 'eviction')
      .create({ kind: 'Eviction', apiVersion: 'policy/v1', metadata: { name: 'p' } });
    expect((await pods.get('p')).metadata.deletionTimestamp).toBeTruthy();
  });

  it('fails with the error of the server, details included', async () => {
    const failure = await client
      .of(Pod)
      .in('default')
      .create({ metadata: { name: 'p' } })
      .catch((error) => error);
    expect(failure).toBeInstanceOf(ApiError);
    expect(failure.reason).toBe('Invalid');
    expect(failure.details.causes).toContainEqual({
      reason: 'FieldValueRequired',
      message: 'Required value',
      field: 'spec.containers',
    });
    const missing = await client
      .of(Namespace)
      .get('none')
      .catch((error) => error);
    expect(missing.toStatus()).toMatchObject({ reason: 'NotFound', code: 404, message: 'namespaces "none" not found' });
  });

  it('watches from a version, with selectors', async () => {
    const maps = client.of(ConfigMap).in('default');
    const { metadata } = await maps.list();
    await maps.create({ metadata: { name: 'before', labels: { a: 'b' } } });
    const watch = await maps.watch({ resourceVersion: metadata.resourceVersion, labelSelector: 'a=b' });
    await maps.create({ metadata: { name: 'other' } });
    await maps.patch('before', { type: 'merge', changes: { metadata: { labels: null } } });
    const seen: string[] = [];
    for await (const { type, object } of watch) {
      seen.push(`${type} ${object.metadata.name}`);
      if (seen.length === 2) break;
    }
    expect(seen).toEqual(['ADDED before', 'DELETED before']);
  });

  it('reports compacted history in a way that informers handle', async () => {
    const maps = client.of(ConfigMap).in('default');
    await maps.create(named('a'));
    await clock.advance(600_000);
    await store.compact(store.revision());
    await maps.create(named('b'));
    const reading = (async () => {
      for await (const _ of await maps.watch({ resourceVersion: '1' }));
    })();
    await expect(reading).rejects.toMatchObject({ reason: 'Expired', message: expect.stringContaining('too old') });
  });

  it('feeds an informer', async () => {
    const stop = new AbortController();
    const informers = new InformerFactory({
      client,
      clock: systemClock,
      random: systemRandom,
      log: silent,
      signal: stop.signal,
    });
    const maps = client.of(ConfigMap).in('default');
    await maps.create(named('a'));
    const informer = informers.of(ConfigMap);
    await informer.synced;
    const { metadata } = await maps.create(named('b'));
    await informer.waitFor(metadata.resourceVersion ?? '');
    expect(informer.lister.get('b', 'default')).toEqual(await maps.get('b'));
    await maps.delete('a');
    await informer.until((lister) => !lister.get('a', 'default'));
    stop.abort();
    await informers.stopped();
  });
});

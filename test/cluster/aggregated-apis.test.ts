/** Objects that another API server keeps are cleaned up like the ones of this server. */
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isApiError } from '../../src/api/errors.ts';
import { ConfigMap } from '../../src/kinds/groups/core/configuration/config-map.ts';
import { Namespace } from '../../src/kinds/groups/core/namespace.ts';
import { Service } from '../../src/kinds/groups/core/service/service.ts';
import { APIService } from '../../src/kinds/groups/extension/apiregistration/api-service.ts';
import { defineKind } from '../../src/kinds/kind.ts';
import { AggregatedObjects } from '../support/aggregated-objects.ts';
import { type AggregatedServer, startAggregated } from '../support/aggregated-server.ts';
import { type Cluster, startCluster } from '../support/cluster/cluster.ts';
import { LOOPBACK_GUARD } from '../support/loopback-guard.ts';
import { testAuthority } from '../support/tls.ts';

const NAME = 'v1.gauges.example.com';
const GAUGE = { apiVersion: 'gauges.example.com/v1', kind: 'Gauge' };
const NOT_FOUND = JSON.stringify({
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  reason: 'NotFound',
  code: 404,
});
const CONTROLLER = 'system:serviceaccount:kube-system:namespace-controller';

const COLLECTOR = 'system:serviceaccount:kube-system:generic-garbage-collector';

let cluster: Cluster;
let backend: AggregatedServer;
let gauges: AggregatedObjects;

beforeEach(async () => {
  const authority = await testAuthority('front-proxy-ca');
  const { cert, key } = await authority.client('front-proxy-client');
  backend = await startAggregated(authority, 'gauges.default.svc');
  gauges = new AggregatedObjects(backend);
  const frontProxy = { certificate: cert, key, authority: authority.ca, clientAuthority: 'users' };
  cluster = await startCluster({ aggregation: true, dialGuard: LOOPBACK_GUARD, frontProxy });
});

afterEach(async () => {
  await cluster.stop();
  backend.close();
});

/** Waits for data that passes through sockets, and advances the clock between tries. */
const eventually = (expectation: () => Promise<void> | void) =>
  vi.waitFor(
    async () => {
      await cluster.clock.advance(500);
      await expectation();
    },
    { timeout: 15_000, interval: 20 },
  );

/** The garbage collector watches the API. */
const followed = () =>
  eventually(() =>
    expect(
      backend.seen.some(({ url, headers }) => url.includes('watch=true') && headers['x-remote-user'] === COLLECTOR),
    ).toBe(true),
  );

async function register(): Promise<void> {
  const { client } = cluster;
  const { port, caBundle } = backend;
  await client.of(Service).create({
    metadata: { name: 'gauges', namespace: 'default' },
    spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] },
  });
  const service = { namespace: 'default', name: 'gauges', port };
  const own = { group: 'gauges.example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 100 };
  await client.of(APIService).create({ metadata: { name: NAME }, spec: { ...own, service, caBundle } });
  await availability('True');
}

const availability = (wanted: string) =>
  eventually(async () => {
    const { status } = await cluster.client.of(APIService).get(NAME);
    expect(status?.conditions?.[0]).toMatchObject({ type: 'Available', status: wanted });
  });

const isGone = (name: string) => () =>
  expect(cluster.client.of(Namespace).get(name)).rejects.toSatisfy((error) => isApiError(error, 'NotFound'));

async function condition(type: string) {
  const { status } = await cluster.client.of(Namespace).get('doomed');
  const found = status.conditions?.find((each) => each.type === type);
  return found && `${found.status} ${found.reason}: ${found.message}`;
}

describe('a namespace that is deleted', () => {
  beforeEach(async () => {
    for (const name of ['doomed', 'kept']) await cluster.client.of(Namespace).create({ metadata: { name } });
    gauges.put({ name: 'pressure', namespace: 'doomed' });
    gauges.put({ name: 'heat', namespace: 'doomed' });
    gauges.put({ name: 'light', namespace: 'kept' });
  });
  const remove = () => cluster.client.of(Namespace).delete('doomed');

  it('takes the objects of aggregated APIs with it, as the user of the controller', async () => {
    await register();
    await remove();
    await eventually(isGone('doomed'));
    expect(gauges.names()).toEqual(['light']);
    const deletions = backend.seen.filter(({ method }) => method === 'DELETE');
    expect(deletions.map(({ url }) => url.split('?')[0])).toEqual([
      '/apis/gauges.example.com/v1/namespaces/doomed/gauges',
    ]);
    expect(deletions[0]).toMatchObject({ client: 'front-proxy-client', headers: { 'x-remote-user': CONTROLLER } });
  });

  it('deletes them one by one where the API has no other way', async () => {
    gauges.verbs = ['delete', 'get', 'list'];
    await register();
    await remove();
    await eventually(isGone('doomed'));
    expect(gauges.names()).toEqual(['light']);
    const deletions = backend.seen.filter(({ method }) => method === 'DELETE').map(({ url }) => url.split('?')[0]);
    expect(deletions.sort()).toEqual([
      '/apis/gauges.example.com/v1/namespaces/doomed/gauges/heat',
      '/apis/gauges.example.com/v1/namespaces/doomed/gauges/pressure',
    ]);
  });

  it('waits for those that have finalizers, and says so', async () => {
    gauges.put({ name: 'heat', namespace: 'doomed', finalizers: ['example.com/hold'] });
    await register();
    await remove();
    await eventually(async () =>
      expect(await condition('NamespaceContentRemaining')).toBe(
        'True SomeResourcesRemain: Some resources are remaining: gauges.gauges.example.com has 1 resource instances',
      ),
    );
    expect(await condition('NamespaceFinalizersRemaining')).toBe(
      'True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
    );
    gauges.put({ name: 'heat', namespace: 'doomed', finalizers: [] });
    await eventually(isGone('doomed'));
  });

  it('stays until an API that is not available can be asked', async () => {
    await register();
    await cluster.client.of(Service).in('default').delete('gauges');
    await availability('False');
    await cluster.client.of(ConfigMap).create({ metadata: { name: 'config', namespace: 'doomed' } });
    await remove();
    const failure = 'unable to retrieve the complete list of server APIs';
    await eventually(async () =>
      expect(await condition('NamespaceDeletionDiscoveryFailure')).toBe(
        `True DiscoveryFailed: Discovery failed for some groups, 1 failing: ${failure}: ` +
          'gauges.example.com/v1: stale GroupVersion discovery: gauges.example.com/v1',
      ),
    );
    // Objects of the available APIs are deleted meanwhile.
    await eventually(async () =>
      expect(
        (await cluster.client.of(ConfigMap).in('doomed').list()).items.map(({ metadata }) => metadata.name),
      ).toEqual([]),
    );
    expect(gauges.names()).toHaveLength(3);
    await cluster.client.of(APIService).delete(NAME);
    await eventually(isGone('doomed'));
    expect(gauges.names()).toHaveLength(3);
  });

  it('stays while the other server rejects, and says why', async () => {
    await register();
    backend.on('/doomed/gauges', (_, response) => response.writeHead(404).end('404 page not found'));
    await remove();
    await eventually(async () =>
      expect(await condition('NamespaceDeletionContentFailure')).toBe(
        'True ContentDeletionFailed: Failed to delete all resource types, 1 remaining: the server answered 404: 404 page not found',
      ),
    );
    expect(await condition('NamespaceDeletionDiscoveryFailure')).toMatch(/^False ResourcesDiscovered/);
  });
});

describe('an object of this server whose owner is an object of an aggregated API', () => {
  const maps = () => cluster.client.of(ConfigMap).in('default');
  const owned = async (name: string, owner: { readonly metadata: { readonly name: string; readonly uid: string } }) => {
    const reference = { ...GAUGE, name: owner.metadata.name, uid: owner.metadata.uid };
    await maps().create({ metadata: { name, ownerReferences: [reference] } } as any);
  };
  const names = async () =>
    (await maps().list()).items.map(({ metadata }) => metadata.name).filter((name) => name !== 'kube-root-ca.crt');
  /** A later change has been handled, so that earlier ones have, too. */
  const settled = async () => {
    const owner = await maps().create({ metadata: { name: 'short-lived' } } as any);
    const { uid = '' } = owner.metadata;
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'short-lived', uid };
    await maps().create({ metadata: { name: 'collected', ownerReferences: [reference] } } as any);
    await maps().delete('short-lived');
    await eventually(async () => expect(await names()).not.toContain('collected'));
  };

  it('stays as long as the owner exists, and not longer', async () => {
    await register();
    await followed();
    await owned('settings', gauges.put({ name: 'heat' }));
    await owned('stale', { metadata: { name: 'heat', uid: 'of-an-earlier-one' } });
    await eventually(async () => expect(await names()).toEqual(['settings']));
    gauges.put({ name: 'heat', deletionTimestamp: '2030-01-01T00:00:00Z' });
    await eventually(async () => expect(await names()).toEqual([]));
  });

  it('is looked at again where the API cannot be watched', async () => {
    gauges.verbs = ['get', 'list', 'delete'];
    await register();
    await owned('settings', gauges.put({ name: 'heat' }));
    await settled();
    gauges.put({ name: 'heat', deletionTimestamp: '2030-01-01T00:00:00Z' });
    await cluster.clock.advance(30_000);
    await eventually(async () => expect(await names()).toEqual([]));
  });

  it('stays while the API is not known or not available', async () => {
    await owned('unregistered', { metadata: { name: 'gone', uid: 'gone' } });
    await settled();
    expect(await names()).toEqual(['unregistered']);
    await register();
    await eventually(async () => expect(await names()).toEqual([]));
    const heat = gauges.put({ name: 'heat' });
    await cluster.client.of(Service).in('default').delete('gauges');
    await availability('False');
    await owned('unavailable', { metadata: { name: 'gone', uid: 'gone' } });
    await owned('settings', heat);
    await settled();
    expect(await names()).toEqual(['settings', 'unavailable']);
    await cluster.client.of(APIService).delete(NAME);
    await settled();
    expect(await names()).toEqual(['settings', 'unavailable']);
  });

  it.each([
    ['answers in a way that says nothing about the owner', (response) => response.writeHead(404).end('not here')],
    ['has another error', (response) => response.writeHead(500).end()],
    ['says that something else does not exist', (response) => response.writeHead(404).end(NOT_FOUND)],
    ['has owners without UIDs', (response) => response.end(JSON.stringify({ ...GAUGE, metadata: { name: 'lost' } }))],
  ] as [string, (response: ServerResponse) => void][])('stays when the other server %s', async (_, answer) => {
    const answered = vi.fn(answer);
    backend.on('/gauges/lost', (_request, response) => answered(response));
    await register();
    await owned('settings', { metadata: { name: 'lost', uid: 'any' } });
    await eventually(() => expect(answered).toHaveBeenCalled());
    await settled();
    expect(await names()).toEqual(['settings']);
  });

  it('stays when the API takes the place of a kind of this server', async () => {
    cluster.server.registry.add(
      defineKind({
        ...{ group: 'gauges.example.com', kind: 'Gauge', plural: 'gauges', scope: 'Namespaced' },
        ...{ versions: { 'gauges.example.com/v1': {} }, fields: {} },
      } as any),
    );
    await register();
    await owned('settings', gauges.put({ name: 'heat' }));
    await settled();
    expect(await names()).toEqual(['settings']);
  });
});

describe('an object of an aggregated API whose owner is an object of this server', () => {
  const maps = () => cluster.client.of(ConfigMap).in('default');
  const owner = async (name = 'owner') => {
    const { metadata } = await maps().create({ metadata: { name } } as any);
    return { apiVersion: 'v1', kind: 'ConfigMap', name, uid: metadata.uid!, blockOwnerDeletion: true };
  };
  const ownerIsGone = () => expect(maps().get('owner')).rejects.toSatisfy((error) => isApiError(error, 'NotFound'));

  it('is deleted after the owner, as the user of the garbage collector', async () => {
    gauges.put({ name: 'heat', ownerReferences: [await owner()] });
    gauges.put({ name: 'light', ownerReferences: [await owner('another')] });
    await register();
    await maps().delete('owner', { propagationPolicy: 'Background' });
    await eventually(() => expect(gauges.names()).toEqual(['light']));
    const deletion = backend.seen.find(({ method }) => method === 'DELETE');
    expect(deletion).toMatchObject({ client: 'front-proxy-client', headers: { 'x-remote-user': COLLECTOR } });
    expect(JSON.parse(deletion!.body)).toMatchObject({
      propagationPolicy: 'Background',
      preconditions: { uid: 'uid-of-default-heat', resourceVersion: expect.any(String) },
    });
  });

  it('is deleted when it appears after the owner has gone', async () => {
    await register();
    const reference = await owner();
    await maps().delete('owner');
    gauges.put({ name: 'heat', ownerReferences: [reference] });
    await eventually(() => expect(gauges.names()).toEqual([]));
  });

  it('is deleted before an owner that is deleted in the foreground', async () => {
    gauges.put({ name: 'heat', ownerReferences: [await owner()], finalizers: ['example.com/hold'] });
    await register();
    await followed();
    await maps().delete('owner', { propagationPolicy: 'Foreground' });
    await eventually(() => expect(gauges.get('heat')?.metadata.deletionTimestamp).toBeDefined());
    expect((await maps().get('owner')).metadata.finalizers).toEqual(['foregroundDeletion']);
    gauges.put({ name: 'heat', finalizers: [] });
    await eventually(ownerIsGone);
  });

  it('loses the reference to an owner that orphans its dependents', async () => {
    gauges.put({ name: 'heat', ownerReferences: [await owner()] });
    await register();
    await followed();
    await maps().delete('owner', { propagationPolicy: 'Orphan' });
    await eventually(ownerIsGone);
    expect(gauges.get('heat')?.metadata.ownerReferences).toBeUndefined();
  });

  it('does not hold an owner back when its API is removed', async () => {
    gauges.put({ name: 'heat', ownerReferences: [await owner()], finalizers: ['example.com/hold'] });
    await register();
    await followed();
    await maps().delete('owner', { propagationPolicy: 'Foreground' });
    await eventually(() => expect(gauges.get('heat')?.metadata.deletionTimestamp).toBeDefined());
    await cluster.client.of(APIService).delete(NAME);
    await eventually(ownerIsGone);
  });

  it('cannot take the place of another object by its UID', async () => {
    const reference = await owner();
    await maps().create({ metadata: { name: 'dependent', ownerReferences: [reference] } } as any);
    gauges.put({ name: 'false', uid: reference.uid });
    gauges.put({ name: 'nameless', uid: '' });
    await register();
    await followed();
    gauges.put({ name: 'false', deletionTimestamp: '2030-01-01T00:00:00Z' });
    gauges.put({ name: 'last', ownerReferences: [{ ...reference, name: 'missing', uid: 'missing' }] });
    await eventually(() => expect(gauges.names()).not.toContain('last'));
    expect((await maps().get('dependent')).metadata.ownerReferences).toEqual([reference]);
    await maps().delete('owner', { propagationPolicy: 'Background' });
    await eventually(() => expect(maps().get('dependent')).rejects.toSatisfy((error) => isApiError(error, 'NotFound')));
  });
});

it('an API that never answers does not keep the garbage collector from its work', async () => {
  await register();
  backend.on('/v1/gauges', () => {});
  const { client } = cluster;
  const maps = client.of(ConfigMap).in('default');
  const { metadata } = await maps.create({ metadata: { name: 'owner' } } as any);
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: metadata.uid! };
  await maps.create({ metadata: { name: 'dependent', ownerReferences: [reference] } } as any);
  await maps.delete('owner');
  await eventually(() => expect(maps.get('dependent')).rejects.toSatisfy((error) => isApiError(error, 'NotFound')));
});

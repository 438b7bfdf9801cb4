/** Objects that another API server keeps are cleaned up like the ones of this server. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isApiError } from '../../src/base/errors.ts';
import { APIService } from '../../src/kinds/groups/apiregistration/api-service.ts';
import { ConfigMap } from '../../src/kinds/groups/core/config-map.ts';
import { Namespace } from '../../src/kinds/groups/core/namespace.ts';
import { Service } from '../../src/kinds/groups/core/service/service.ts';
import { AggregatedObjects } from '../support/aggregated-objects.ts';
import { type AggregatedServer, startAggregated } from '../support/aggregated-server.ts';
import { type Cluster, startCluster } from '../support/cluster/cluster.ts';
import { testAuthority } from '../support/tls.ts';

const NAME = 'v1.gauges.example.com';
const CONTROLLER = 'system:serviceaccount:kube-system:namespace-controller';

let cluster: Cluster;
let backend: AggregatedServer;
let gauges: AggregatedObjects;

beforeEach(async () => {
  const authority = await testAuthority('front-proxy-ca');
  const { cert, key } = await authority.client('front-proxy-client');
  backend = await startAggregated(authority, 'gauges.default.svc');
  gauges = new AggregatedObjects(backend);
  cluster = await startCluster({ aggregation: true });
  const identity = { certificate: cert, key, authority: authority.ca, clientAuthority: 'users' };
  await cluster.server.identifyAs(identity);
});

afterEach(async () => {
  await cluster.stop();
  backend.close();
});

/** Waits for what passes through sockets, and advances the clock between tries. */
const eventually = (expectation: () => Promise<void> | void) =>
  vi.waitFor(
    async () => {
      await cluster.clock.advance(500);
      await expectation();
    },
    { timeout: 15_000, interval: 20 },
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
    // What can be reached is deleted meanwhile.
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

  it('stays while the other server refuses, and says why', async () => {
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

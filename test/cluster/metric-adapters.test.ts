/** Autoscalers that follow metrics of adapters, which are API servers behind APIServices. */
import type { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silent } from '../../src/base/log.ts';
import { systemRandom } from '../../src/base/random.ts';
import { nodeUser, SIMULATED_NODES } from '../../src/client/component-users.ts';
import { Deployment } from '../../src/kinds/groups/apps/deployment.ts';
import { HorizontalPodAutoscaler } from '../../src/kinds/groups/autoscaling/horizontal-pod-autoscaler.ts';
import { Event } from '../../src/kinds/groups/core/event/event.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { Service } from '../../src/kinds/groups/core/service/service.ts';
import { APIService } from '../../src/kinds/groups/extension/apiregistration/api-service.ts';
import { readRules } from '../../src/node/simulated/rules/read-rules.ts';
import { type SimulatedNodes, startSimulatedNodes } from '../../src/node/simulated/simulated.ts';
import { type AggregatedServer, startAggregated } from '../support/aggregated-server.ts';
import { type Cluster, startCluster } from '../support/cluster/cluster.ts';
import { LOOPBACK_GUARD } from '../support/loopback-guard.ts';
import { testAuthority } from '../support/tls.ts';

const CONTROLLER = 'system:serviceaccount:kube-system:horizontal-pod-autoscaler';
const CUSTOM = { group: 'custom.metrics.k8s.io', version: 'v1beta2' };
const EXTERNAL = { group: 'external.metrics.k8s.io', version: 'v1beta1' };

let cluster: Cluster;
let nodes: SimulatedNodes;
let adapter: AggregatedServer;

beforeEach(async () => {
  const authority = await testAuthority('front-proxy-ca');
  const { cert, key } = await authority.client('front-proxy-client');
  adapter = await startAggregated(authority, 'adapter.default.svc');
  const frontProxy = { certificate: cert, key, authority: authority.ca, clientAuthority: 'users' };
  cluster = await startCluster({ aggregation: true, dialGuard: LOOPBACK_GUARD, frontProxy });
  const { clientFor, clock } = cluster;
  nodes = await startSimulatedNodes({
    ...{ client: clientFor(SIMULATED_NODES), clientOf: (node) => clientFor(nodeUser(node)) },
    ...{ clock, random: systemRandom, log: silent, names: ['n1'], clusterCidr: '10.244.0.0/16' },
    ...{ version: 'v1.36.4', rules: readRules({}) },
  });
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'nginx' }] } };
  await cluster.client.of(Deployment).create({
    metadata: { name: 'web', namespace: 'default' },
    spec: { replicas: 2, selector: { matchLabels: labels }, template },
  });
});
afterEach(async () => {
  await nodes.stop();
  await cluster.stop();
  adapter.close();
});

/** Waits for data that passes through sockets, and advances the clock between tries. */
const eventually = (expectation: () => Promise<void>) =>
  vi.waitFor(
    async () => {
      await cluster.clock.advance(500);
      await expectation();
    },
    { timeout: 15_000, interval: 5 },
  );

async function register({ group, version }: { readonly group: string; readonly version: string }): Promise<void> {
  const { client } = cluster;
  const { port, caBundle } = adapter;
  await client.of(Service).create({
    metadata: { name: 'adapter', namespace: 'default' },
    spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] },
  });
  const service = { namespace: 'default', name: 'adapter', port };
  const name = `${version}.${group}`;
  const own = { group, version, groupPriorityMinimum: 100, versionPriority: 100 };
  await client.of(APIService).create({ metadata: { name }, spec: { ...own, service, caBundle } });
  await eventually(async () => {
    const { status } = await client.of(APIService).get(name);
    expect(status?.conditions?.[0]).toMatchObject({ type: 'Available', status: 'True' });
  });
}

/** Answers requests for a metric with values, of the moment when they are asked for. */
function answers(metric: string, values: (request: IncomingMessage) => readonly object[] | Promise<readonly object[]>) {
  adapter.on(`/${metric}`, async (request, response) => {
    const timestamp = new Date(cluster.clock.now()).toISOString();
    const items = (await values(request)).map((value) => ({ timestamp, windowSeconds: 30, ...value }));
    const list = { kind: 'MetricValueList', apiVersion: `${CUSTOM.group}/${CUSTOM.version}`, metadata: {}, items };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(list));
  });
}

/** The same value for each pod of the Deployment. */
const ofEachPod = (value: string) => async () => {
  const { items } = await cluster.client.of(Pod).in('default').list({ labelSelector: 'app=web' });
  return items.map(({ metadata: { name } }) => ({ describedObject: { kind: 'Pod', name }, value }));
};

const scale = (metric: object) =>
  cluster.client.of<any>(HorizontalPodAutoscaler).create({
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      ...{ scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, minReplicas: 2, maxReplicas: 4 },
      metrics: [metric],
    },
  });

const isScaled = () =>
  eventually(async () => {
    const { spec } = await cluster.client.of<any>(Deployment).in('default').get('web');
    expect(spec.replicas).toBe(4);
  });
const says = (message: string) =>
  eventually(async () => {
    const { items } = await cluster.client.of(Event).in('default').list();
    expect(items.map((each) => each.message)).toContainEqual(expect.stringContaining(message));
  });
/** The paths and queries of the adapter's metrics that were asked for. */
const asked = () => [
  ...new Set(
    adapter.seen
      .filter(({ headers }) => headers['x-remote-user'] === CONTROLLER)
      .map(({ url }) => decodeURIComponent(url)),
  ),
];

const target = { type: 'AverageValue', averageValue: '10' };
const selector = { matchLabels: { verb: 'GET' } };

describe('an autoscaler scales', () => {
  it('by a custom metric of its pods', async () => {
    await register(CUSTOM);
    answers('qps', ofEachPod('20'));
    await scale({ type: 'Pods', pods: { metric: { name: 'qps', selector }, target } });
    await isScaled();
    expect(asked()).toEqual([
      '/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/pods/*/qps?labelSelector=app=web&metricLabelSelector=verb=GET',
    ]);
  });

  it('by a custom metric of another object', async () => {
    await register({ ...CUSTOM, version: 'v1beta1' });
    answers('hits', () => [{ describedObject: { kind: 'Ingress', name: 'front' }, metricName: 'hits', value: '40' }]);
    const describedObject = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'front' };
    await scale({ type: 'Object', object: { metric: { name: 'hits' }, describedObject, target } });
    await isScaled();
    expect(asked()).toEqual([
      '/apis/custom.metrics.k8s.io/v1beta1/namespaces/default/ingresses.networking.k8s.io/front/hits',
    ]);
  });

  it('by a custom metric of its namespace', async () => {
    await register(CUSTOM);
    answers('load', () => [{ describedObject: { kind: 'Namespace', name: 'default' }, value: '40' }]);
    const describedObject = { apiVersion: 'v1', kind: 'Namespace', name: 'default' };
    await scale({ type: 'Object', object: { metric: { name: 'load' }, describedObject, target } });
    await isScaled();
    expect(asked()).toEqual(['/apis/custom.metrics.k8s.io/v1beta2/namespaces/default/metrics/load']);
  });

  it('by the sum of an external metric', async () => {
    await register(EXTERNAL);
    answers('queue', () => [
      { metricName: 'queue', metricLabels: { verb: 'GET' }, value: '15' },
      { metricName: 'queue', metricLabels: { verb: 'GET' }, value: '25' },
    ]);
    await scale({ type: 'External', external: { metric: { name: 'queue', selector }, target } });
    await isScaled();
    expect(asked()).toEqual(['/apis/external.metrics.k8s.io/v1beta1/namespaces/default/queue?labelSelector=verb=GET']);
  });
});

describe('an autoscaler reports', () => {
  const pods = { type: 'Pods', pods: { metric: { name: 'qps' }, target } };

  it('that the adapter has no values', async () => {
    await register(CUSTOM);
    answers('qps', () => []);
    await scale(pods);
    await says('no metrics returned from custom metrics API');
  });

  it.each<[string, unknown, string]>([
    ['text in the place of a list', { items: 'many' }, 'the adapter sent no list of values'],
    ['a value that is a number', { items: [{ value: 7 }] }, 'the adapter sent a value that is not a quantity'],
    ['a value that is no quantity', { items: [{ value: 'much' }] }, 'quantities must match'],
  ])('%s', async (_, content, why) => {
    await register(CUSTOM);
    adapter.on('/qps', (_request, response) => {
      const list = { kind: 'MetricValueList', apiVersion: 'custom.metrics.k8s.io/v1beta2', metadata: {} };
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ ...list, ...(content as object) }));
    });
    await scale(pods);
    await says(why);
  });

  it('the error of the adapter', async () => {
    await register(CUSTOM);
    adapter.on('/qps', (_, response) => {
      const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 };
      response
        .writeHead(404, { 'content-type': 'application/json' })
        .end(JSON.stringify({ ...status, message: 'nobody counts qps' }));
    });
    await scale(pods);
    await says('unable to fetch metrics from custom metrics API: nobody counts qps');
  });

  it('that an object has several values', async () => {
    await register(CUSTOM);
    answers('hits', () => [{ value: '1' }, { value: '2' }]);
    const describedObject = { apiVersion: 'v1', kind: 'Service', name: 'web' };
    await scale({ type: 'Object', object: { metric: { name: 'hits' }, describedObject, target } });
    await says('the adapter sent 2 values where one was expected');
  });
});

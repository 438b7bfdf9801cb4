/** The operator in a cluster inside the test: `node --test examples/operator`. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { CustomObjectsApi, KubeConfig } from '@kubernetes/client-node';
import { Cluster } from 'quarterdeck/testing';
import { childrenOf, statusOf } from './children.js';
import { runOperator } from './operator.js';

const read = (file) => readFileSync(new URL(file, import.meta.url), 'utf8');
const website = read('website.yaml');

let cluster;
let running;
const stop = new AbortController();

before(async () => {
  cluster = await Cluster.start({ nodes: 2 });
  await cluster.apply(read('website.crd.yaml'));
  await cluster.waitFor('customresourcedefinition/websites.example.com', 'Established');
  running = runOperator(cluster.client, { signal: stop.signal });
});

after(async () => {
  stop.abort();
  await running;
  await cluster.stop();
});

const isReady = ({ status }) => status?.phase === 'Ready';

test('a website is pending until all of its replicas are ready', () => {
  const site = { apiVersion: 'a/v1', kind: 'Website', metadata: { name: 'a', generation: 3 }, spec: { replicas: 2 } };
  const deployment = (readyReplicas) => ({
    metadata: { generation: 1 },
    status: { observedGeneration: 1, readyReplicas },
  });
  assert.equal(statusOf(site, deployment(1)).phase, 'Pending');
  assert.deepEqual(statusOf(site, deployment(2)), { observedGeneration: 3, readyReplicas: 2, phase: 'Ready' });
  assert.deepEqual(
    childrenOf(site).map(({ kind }) => kind),
    ['ConfigMap', 'Deployment', 'Service'],
  );
});

test('a website gets its objects, and reports when its pods are ready', async () => {
  await cluster.apply(website);
  const ready = await cluster.waitFor('website/hello', isReady);
  assert.equal(ready.status.readyReplicas, 2);
  assert.equal((await cluster.get('configmap/hello')).data['index.html'], '<h1>Hello</h1>');
  assert.equal((await cluster.get('service/hello')).spec.ports[0].port, 80);
});

test('a change of the website reaches its objects', async () => {
  await cluster.client
    .of('Website')
    .in('default')
    .patch('hello', { type: 'merge', changes: { spec: { replicas: 3 } } });
  const changed = ({ status, metadata }) => status.observedGeneration === metadata.generation && isReady({ status });
  assert.equal((await cluster.waitFor('website/hello', changed)).status.readyReplicas, 3);
});

test('what somebody else deletes is made again', async () => {
  const deployments = cluster.client.of('Deployment').in('default');
  const { uid } = (await deployments.get('hello')).metadata;
  await deployments.delete('hello');
  await cluster.waitFor('deployment/hello', ({ metadata }) => metadata.uid !== uid);
});

test('its objects are deleted with the website', async () => {
  await cluster.client.of('Website').in('default').delete('hello');
  await cluster.settle();
  assert.equal((await cluster.client.of('Deployment').in('default').list()).items.length, 0);
});

test('the same kind with the official JavaScript client', async () => {
  const config = new KubeConfig();
  config.loadFromString(await cluster.kubeconfig());
  const websites = config.makeApiClient(CustomObjectsApi);
  const at = { group: 'example.com', version: 'v1', namespace: 'default', plural: 'websites' };
  const body = { apiVersion: 'example.com/v1', kind: 'Website', metadata: { name: 'official' }, spec: { html: 'hi' } };
  await websites.createNamespacedCustomObject({ ...at, body });
  await cluster.waitFor('website/official', isReady);
  const { spec, status } = await websites.getNamespacedCustomObject({ ...at, name: 'official' });
  assert.deepEqual({ replicas: spec.replicas, phase: status.phase }, { replicas: 1, phase: 'Ready' });
  const invalid = { ...body, metadata: { name: 'other' }, spec: { html: 'hi', replicas: 99 } };
  await assert.rejects(websites.createNamespacedCustomObject({ ...at, body: invalid }), { code: 422 });
  await websites.deleteNamespacedCustomObject({ ...at, name: 'official' });
});

// For vitest: npx vitest run. Every test gets a fork of a cluster that was prepared once.
import { AppsV1Api, KubeConfig } from '@kubernetes/client-node';
import { Cluster } from 'quarterdeck/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { web } from './web.mjs';

let prepared;
let cluster;
beforeAll(async () => {
  prepared = await Cluster.start({ nodes: 2 });
  await prepared.apply(web);
  await prepared.settle();
});
beforeEach(async () => {
  cluster = await prepared.fork();
});
afterEach(() => cluster.stop());
afterAll(() => prepared.stop());

test('pods of a failed node are replaced', async () => {
  await cluster.failNode('node-1');
  await cluster.advance('10m');
  const { items } = await cluster.client.of('Pod').in('default').list();
  const running = items.filter(({ metadata }) => !metadata.deletionTimestamp);
  expect(new Set(running.map(({ spec }) => spec.nodeName))).toEqual(new Set(['node-2']));
});

test('the official client sees the Deployment, and conflicts are answered with 409', async () => {
  const config = new KubeConfig();
  config.loadFromString(await cluster.kubeconfig());
  const apps = config.makeApiClient(AppsV1Api);
  const body = await apps.readNamespacedDeployment({ name: 'web', namespace: 'default' });
  expect(body.status.readyReplicas).toBe(3);
  cluster.addFault({
    verbs: ['update'],
    resources: ['deployments'],
    users: ['kubernetes-admin'],
    error: 409,
    times: 1,
  });
  const replace = () => apps.replaceNamespacedDeployment({ name: 'web', namespace: 'default', body });
  await expect(replace()).rejects.toMatchObject({ code: 409 });
  await replace();
});

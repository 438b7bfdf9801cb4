// For node's own runner: node --test
import assert from 'node:assert';
import { after, before, beforeEach, test } from 'node:test';
import { BatchV1Api, KubeConfig } from '@kubernetes/client-node';
import { Cluster } from 'quarterdeck/testing';

const backup = `
apiVersion: batch/v1
kind: CronJob
metadata: { name: backup }
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec: { template: { spec: { restartPolicy: Never, containers: [{ name: backup, image: backup }] } } }
`;

let cluster;
let batch;
before(async () => {
  cluster = await Cluster.start();
  const config = new KubeConfig();
  config.loadFromString(await cluster.kubeconfig());
  batch = config.makeApiClient(BatchV1Api);
});
beforeEach(() => cluster.apply(backup));
after(() => cluster.stop());

test('a backup runs every night', async () => {
  await cluster.advance('2d');
  const { items } = await batch.listNamespacedJob({ namespace: 'default' });
  assert.equal(items.filter(({ status }) => status.succeeded === 1).length, 2);
});

test('a suspended backup does not run', async () => {
  const { items: before } = await batch.listNamespacedJob({ namespace: 'default' });
  const cronJobs = cluster.client.of('CronJob').in('default');
  await cronJobs.patch('backup', { type: 'merge', changes: { spec: { suspend: true } } });
  await cluster.advance('7d');
  const { items } = await batch.listNamespacedJob({ namespace: 'default' });
  assert.equal(items.length, before.length);
});

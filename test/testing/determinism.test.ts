/** Tests that the same seed gives the same history: every change of objects, with names, uids, times and tokens. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { Cluster } from '../../src/testing/index.ts';
import { propertyRuns } from '../support/property-runs.ts';

const SEEDS = propertyRuns(25);

/** A digest of all versions of all objects of the namespaces. */
async function historyOf(seed: number): Promise<string> {
  const cluster = await Cluster.start({ seed });
  try {
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } };
    const spec = { replicas: 1, selector: { matchLabels: { app: 'web' } }, template };
    cluster.addFault({ verbs: ['create', 'patch', 'update'], error: 500, rate: 0.1 });
    await cluster.apply({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec });
    await cluster.advance('2s');
    const { items: pods } = await cluster.client.of('Pod').in('default').list();
    await cluster.crashPod(pods[0]!);
    await cluster.advance('5s');
    const digest = createHash('sha256');
    for (const kind of ['Deployment', 'ReplicaSet', 'Pod', 'Event', 'Secret', 'ServiceAccount', 'ConfigMap', 'Lease']) {
      const { items, metadata } = await cluster.client.of(kind).list();
      digest.update(`${kind} ${metadata.resourceVersion}\n`);
      for (const item of items) {
        digest.update(JSON.stringify(await cluster.history({ ...item, kind, apiVersion: undefined as never })));
      }
    }
    return digest.digest('hex');
  } finally {
    await cluster.stop();
  }
}

test(`the same seed gives the same history, for ${SEEDS} seeds, and another seed another one`, async () => {
  const histories = new Set<string>();
  for (let seed = 0; seed < SEEDS; seed++) {
    const first = await historyOf(seed);
    expect(await historyOf(seed), `seed ${seed}`).toBe(first);
    histories.add(first);
  }
  expect(histories.size).toBe(SEEDS);
}, 300_000);

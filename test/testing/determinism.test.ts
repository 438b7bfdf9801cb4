/** The same seed gives the same history: every change of every object, with names, uids, times and tokens. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { TestCluster } from '../../src/testing/cluster/test-cluster.ts';

const SEEDS = 100;

async function historyOf(seed: number): Promise<string> {
  const cluster = await TestCluster.start({ seed, nodes: 2 });
  try {
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } };
    const spec = { replicas: 3, selector: { matchLabels: { app: 'web' } }, template };
    await cluster.apply({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec });
    cluster.addFault({ verbs: ['create', 'patch', 'update'], error: 500, rate: 0.1 });
    await cluster.advance('30s');
    const { items } = await cluster.client.of('Pod').in('default').list();
    await cluster.crashPod(items[0]!);
    await cluster.advance('30s');
    const digest = createHash('sha256');
    for (const { key, revision, value } of (await cluster.snapshotState()).image.rows) {
      digest.update(`${key} ${revision} ${value}\n`);
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
}, 120_000);

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Namespace } from '../../src/kinds/groups/core/namespace.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { ResourceQuota } from '../../src/kinds/groups/core/quota/resource-quota.ts';
import { admissionPlugins } from '../../src/server/operations/admission/all.ts';
import { type Cluster, startCluster } from '../support/cluster/cluster.ts';

let cluster: Cluster;
beforeEach(async () => {
  cluster = await startCluster({ admission: admissionPlugins() });
  await cluster.client.of(Namespace).create({ metadata: { name: 'x' } });
});
afterEach(() => cluster.stop());

const pods = () => cluster.client.of(Pod).in('x');
const pod = (name: string) => ({
  metadata: { name, namespace: 'x' },
  spec: { containers: [{ name: 'c', image: 'x' }] },
});
const used = async () => (await cluster.client.of(ResourceQuota).in('x').get('q')).status.used;
const usedIs = (wanted: string) => cluster.eventually(async () => (await used())?.pods === wanted);

describe('a quota', () => {
  beforeEach(async () => {
    const quota = { metadata: { name: 'q', namespace: 'x' }, spec: { hard: { pods: '3' } } };
    await cluster.client.of(ResourceQuota).create(quota as never);
    await usedIs('0');
  });

  it('releases usage of deleted and terminated pods', async () => {
    for (const name of ['a', 'b', 'c']) await pods().create(pod(name) as never);
    expect(await used()).toEqual({ pods: '3' });
    await expect(pods().create(pod('d') as never)).rejects.toThrow('exceeded quota: q');
    await pods().delete('a');
    await usedIs('2');
    const ended = await pods().get('b');
    await pods().updateStatus({ ...ended, status: { ...ended.status, phase: 'Succeeded' } } as never);
    await usedIs('1');
    await pods().create(pod('d') as never);
    expect(await used()).toEqual({ pods: '2' });
    expect(cluster.complaints).toEqual([]);
  });

  it('is never exceeded while it is recomputed', async () => {
    let most = 0;
    const writers = Array.from({ length: 10 }, async (_, writer) => {
      for (let i = 0; i < 10; i++) {
        const name = `w${writer}-${i}`;
        const made = await pods()
          .create(pod(name) as never)
          .catch(() => undefined);
        most = Math.max(most, (await pods().list()).items.length);
        if (made) await pods().delete(name);
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    let isDone = false;
    const time = (async () => {
      while (!isDone) await cluster.clock.advance(100);
    })();
    await Promise.all(writers);
    isDone = true;
    await time;
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(3);
    await usedIs('0');
  });
});

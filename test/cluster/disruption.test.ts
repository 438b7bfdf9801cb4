import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Deployment } from '../../src/kinds/groups/apps/deployment.ts';
import { ConfigMap } from '../../src/kinds/groups/core/configuration/config-map.ts';
import { Event } from '../../src/kinds/groups/core/event/event.ts';
import { Namespace } from '../../src/kinds/groups/core/namespace.ts';
import { Node } from '../../src/kinds/groups/core/node/node.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { PodDisruptionBudget } from '../../src/kinds/groups/policy/pod-disruption-budget.ts';
import { type Cluster, startCluster } from '../support/cluster/cluster.ts';
import { makeReady } from '../support/pod-life.ts';

let cluster: Cluster;

beforeEach(async () => {
  cluster = await startCluster();
  await cluster.client.of(Namespace).create({ metadata: { name: 'x' } });
});
afterEach(() => cluster.stop());

const pods = () => cluster.client.of(Pod).in('x');
const budgets = () => cluster.client.of(PodDisruptionBudget).in('x');
const settled = () => cluster.clock.advance(3000);
const labels = { app: 'web' };
const budget = (spec: object) =>
  budgets().create({ metadata: { name: 'b' }, spec: { selector: { matchLabels: labels }, ...spec } } as any);
const status = async () => {
  await settled();
  return (await budgets().get('b')).status;
};
const evict = (name: string, deleteOptions: object = {}) =>
  pods()
    .subresource(name, 'eviction')
    .create({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name }, deleteOptions });
const told = async () => (await cluster.client.of(Event).in('x').list()).items.map(({ reason }) => reason);

/** A Deployment with ready pods on a node without an agent: deleted pods linger. */
async function web(replicas: number): Promise<string[]> {
  await cluster.client.of(Node).create({ metadata: { name: 'n' } } as any);
  const template = { metadata: { labels }, spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] } };
  await cluster.client.of(Deployment).create({
    metadata: { name: 'web', namespace: 'x' },
    spec: { replicas, selector: { matchLabels: labels }, template },
  } as any);
  await cluster.eventually(async () => (await pods().list()).items.length === replicas);
  return ready();
}

async function ready(): Promise<string[]> {
  const { items } = await pods().list();
  const alive = items.filter(({ metadata }) => !metadata.deletionTimestamp);
  for (const pod of alive) await makeReady(cluster.client, pod, cluster.clock.now());
  return alive.map(({ metadata }) => metadata.name ?? '');
}

describe('a disruption budget', () => {
  it.each([
    [{ minAvailable: 3 }, { expectedPods: 4, desiredHealthy: 3, disruptionsAllowed: 1 }],
    [{ minAvailable: '60%' }, { expectedPods: 4, desiredHealthy: 3, disruptionsAllowed: 1 }],
    [{ maxUnavailable: 2 }, { expectedPods: 4, desiredHealthy: 2, disruptionsAllowed: 2 }],
    [{ maxUnavailable: '30%' }, { expectedPods: 4, desiredHealthy: 2, disruptionsAllowed: 2 }],
  ])('of %j counts expected and healthy pods', async (spec, expected) => {
    await web(4);
    await budget(spec);
    const found = await status();
    expect(found).toMatchObject({ ...expected, currentHealthy: 4, observedGeneration: 1 });
    expect(found.conditions).toMatchObject([{ type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods' }]);
  });

  it('follows the size of its owner and the readiness of its pods', async () => {
    await web(2);
    await budget({ maxUnavailable: '50%' });
    expect(await status()).toMatchObject({ expectedPods: 2, currentHealthy: 2, disruptionsAllowed: 1 });
    await cluster.client.of(Deployment).in('x').setScale('web', 4);
    expect(await status()).toMatchObject({
      expectedPods: 4,
      currentHealthy: 2,
      desiredHealthy: 2,
      disruptionsAllowed: 0,
    });
    await ready();
    expect(await status()).toMatchObject({ currentHealthy: 4, disruptionsAllowed: 2 });
  });

  it('without pods allows nothing', async () => {
    await budget({ minAvailable: 0 });
    expect(await status()).toMatchObject({ expectedPods: 0, disruptionsAllowed: 0 });
    expect(await told()).toContain('NoPods');
  });

  it('reports why it cannot count', async () => {
    const owner = await cluster.client.of(ConfigMap).create({ metadata: { name: 'o', namespace: 'x' } });
    const { uid } = owner.metadata;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid, controller: true }];
    await pods().create({
      metadata: { name: 'p', labels: { only: 'p' }, ownerReferences },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    } as any);
    await budgets().create({
      metadata: { name: 'b' },
      spec: { maxUnavailable: 1, selector: { matchLabels: { only: 'p' } } },
    } as any);
    expect((await status()).conditions).toMatchObject([
      { status: 'False', reason: 'SyncFailed', message: 'configmaps does not implement the scale subresource' },
    ]);
    expect(await told()).toContain('CalculateExpectedPodCountFailed');
  });
});

describe('an eviction', () => {
  it('is allowed until the budget is exhausted, then rejected with a reason', async () => {
    const [first = '', second = ''] = await web(3);
    await budget({ minAvailable: 2 });
    await settled();
    await evict(first);
    expect((await budgets().get('b')).status).toMatchObject({ disruptionsAllowed: 0 });
    await expect(evict(second)).rejects.toMatchObject({
      code: 429,
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      details: {
        causes: [
          {
            reason: 'DisruptionBudget',
            message: expect.stringMatching(/^The disruption budget b needs 2 healthy pods and has/),
          },
        ],
      },
    });
    expect((await pods().get(first)).status.conditions).toContainEqual(
      expect.objectContaining({ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }),
    );
    // Until the replacement is healthy.
    expect(await status()).toMatchObject({ disruptionsAllowed: 0 });
    await ready();
    expect(await status()).toMatchObject({ currentHealthy: 3, disruptionsAllowed: 1 });
    await evict(second);
  });

  it('never evicts two pods where one is allowed, however fast they are', async () => {
    const names = await web(5);
    await budget({ maxUnavailable: 2 });
    await settled();
    const results = await Promise.allSettled(names.map((name) => evict(name)));
    expect(results.filter(({ status: outcome }) => outcome === 'fulfilled')).toHaveLength(2);
    expect((await pods().list()).items.filter(({ metadata }) => metadata.deletionTimestamp)).toHaveLength(2);
  });

  it('waits for a budget that was not counted yet', async () => {
    const [name = ''] = await web(1);
    cluster.link.cut();
    await budget({ minAvailable: 0 });
    await expect(evict(name)).rejects.toMatchObject({
      code: 429,
      details: {
        retryAfterSeconds: 10,
        causes: [{ message: 'The disruption budget b is still being processed by the server.' }],
      },
    });
    cluster.link.mend();
  });

  it('of a pod that is not ready depends on unhealthyPodEvictionPolicy', async () => {
    const [name = '', other = ''] = await web(2);
    await budget({ minAvailable: 2 });
    await settled();
    const conditions = [{ type: 'Ready', status: 'False' }];
    await pods().patchStatus(name, { type: 'strategic', changes: { status: { conditions } } });
    await settled();
    await expect(evict(name)).rejects.toMatchObject({ code: 429 });
    const changes = { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } };
    await budgets().patch('b', { type: 'merge', changes });
    await settled();
    await expect(evict(other)).rejects.toMatchObject({ code: 429 });
    await evict(name);
  });

  it('of a pod under two budgets is not supported', async () => {
    const [name = ''] = await web(1);
    await budget({ minAvailable: 0 });
    await budgets().create({
      metadata: { name: 'c' },
      spec: { selector: { matchLabels: labels }, minAvailable: 0 },
    } as any);
    await settled();
    await expect(evict(name)).rejects.toMatchObject({
      code: 500,
      message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    });
  });

  it('as a dry run changes nothing', async () => {
    const [name = ''] = await web(1);
    await budget({ minAvailable: 0 });
    await settled();
    await evict(name, { dryRun: ['All'] });
    expect((await pods().get(name)).metadata.deletionTimestamp).toBeUndefined();
    expect((await budgets().get('b')).status).toMatchObject({ disruptionsAllowed: 1 });
  });
});

describe('a pod with a DisruptionTarget condition', () => {
  it('loses the condition when nothing happened', async () => {
    const [name = ''] = await web(1);
    const lastTransitionTime = new Date(cluster.clock.now()).toISOString().replace('.000', '');
    const conditions = [
      { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler', lastTransitionTime },
    ];
    await pods().patchStatus(name, { type: 'strategic', changes: { status: { conditions } } });
    const target = async () =>
      (await pods().get(name)).status.conditions?.find(({ type }) => type === 'DisruptionTarget')?.status;
    await cluster.clock.advance(119_000);
    expect(await target()).toBe('True');
    await cluster.clock.advance(2000);
    expect(await target()).toBe('False');
  });
});

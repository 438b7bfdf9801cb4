/** Tests that the status of pods in the API stays what the agent reports, whoever else writes it and whatever fails. */
import { afterEach, expect, test } from 'vitest';
import { ApiError } from '../../src/api/errors.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { type AgentCluster, agentCluster } from '../support/agent.ts';

let cluster: AgentCluster;
afterEach(() => cluster.stop());

const PATCH = 'patch pods/status';
/** The longest time until the status is right again. */
const CHECK_MS = 10_000;

const isReady = (pod: any) =>
  pod?.status.conditions?.some((each: any) => each.type === 'Ready' && each.status === 'True');

/** Starts a cluster with these pods, ready, and waits until nothing is written any more. */
async function startWith(...names: string[]): Promise<void> {
  cluster = await agentCluster();
  for (const name of names) {
    await cluster.run(name);
    await cluster.until(name, isReady);
  }
  await cluster.clock.advance(60_000);
  cluster.calls.length = 0;
}

/** Writes as the node controller does for pods of a node that it has lost. */
async function overwrite(name: string): Promise<void> {
  const changes = { status: { conditions: [{ type: 'Ready', status: 'False' }] } };
  await cluster.client.of(Pod).in('default').patchStatus(name, { type: 'strategic', changes });
}

const writes = () => cluster.calls.filter((call) => call === PATCH).length;

test('an unchanged status is not written, whatever it contains', async () => {
  await startWith('plain');
  const resources = {
    requests: { cpu: '100m', memory: '1024Ki' },
    limits: { cpu: '1.50', memory: '0.5Gi' },
  };
  const container = { image: 'nginx:1', resources };
  const initContainers = [
    { name: 'sidecar', restartPolicy: 'Always', ...container },
    { name: 'init', ...container },
  ];
  await cluster.run('full', {
    spec: {
      initContainers,
      containers: [{ name: 'c', ...container }],
      resources: { requests: { cpu: '3000m' }, limits: { cpu: '3.50' } },
    },
  });
  await cluster.until('full', (pod) => pod.status.initContainerStatuses?.[1].state.running);
  cluster.runtime.exit('full', 'init', 0);
  await cluster.until('full', isReady);
  await cluster.run('restarting', { spec: { restartPolicy: 'OnFailure' } });
  for (let attempt = 0; attempt < 7; attempt++) {
    await cluster.until('restarting', () => cluster.runtime.newest('restarting', 'c')?.attempt === attempt);
    await cluster.until('restarting', isReady);
    cluster.runtime.exit('restarting', 'c', attempt < 6 ? 1 : 0);
  }
  await cluster.until('restarting', (pod) => pod.status.phase === 'Succeeded');
  await cluster.run('rejected', { spec: { nodeSelector: { 'example.com/no': 'such' } } });
  await cluster.until('rejected', (pod) => pod.status.phase === 'Failed');
  await cluster.run('gated', { spec: { readinessGates: [{ conditionType: 'example.com/gate' }], hostNetwork: true } });
  await cluster.until('gated', (pod) => pod.status.phase === 'Running');
  await cluster.clock.advance(3_600_000);
  cluster.calls.length = 0;
  await cluster.clock.advance(3_600_000);
  expect(writes()).toBe(0);
});

test('a status that another client overwrites is corrected with one write', async () => {
  await startWith('web');
  await overwrite('web');
  await cluster.clock.advance(0);
  expect(await cluster.pod('web')).toSatisfy(isReady);
  await cluster.clock.advance(60_000);
  expect(writes()).toBe(1);
});

test('fields that another client adds are removed, and its own conditions stay', async () => {
  await startWith('web');
  const conditions = [{ type: 'example.com/gate', status: 'True' }];
  const changes = { status: { reason: 'NodeLost', message: 'gone', podIPs: [{ ip: '192.0.2.9' }], conditions } };
  await cluster.client.of(Pod).in('default').patchStatus('web', { type: 'strategic', changes });
  await cluster.clock.advance(0);
  const { status } = await cluster.pod('web');
  expect(status).not.toHaveProperty('reason');
  expect(status).not.toHaveProperty('message');
  expect(status.podIPs).toEqual([{ ip: '10.0.0.1' }]);
  expect(status.conditions).toContainEqual(expect.objectContaining({ type: 'example.com/gate', status: 'True' }));
  await cluster.clock.advance(60_000);
  expect(writes()).toBe(1);
});

test('a status that is overwritten before the agent has the answer to its own write is corrected', async () => {
  await startWith('web');
  let times = 0;
  cluster.api.beforeAnswer = async (name) => {
    if (name !== PATCH || ++times > 3) return;
    await overwrite('web');
    // The agent hears of it before its own write has ended.
    await new Promise((resolve) => setImmediate(resolve));
  };
  const start = cluster.clock.now();
  await overwrite('web');
  await cluster.until('web', (pod) => times > 3 && isReady(pod));
  expect(cluster.clock.now() - start).toBeLessThanOrEqual(CHECK_MS);
});

test('a write that fails with a conflict is tried again', async () => {
  await startWith('web');
  let times = 0;
  cluster.api.beforeCall = async (name) => {
    if (name === PATCH && ++times <= 3) throw new ApiError('Conflict', 'another writer was faster');
  };
  await overwrite('web');
  await cluster.clock.advance(2 * CHECK_MS);
  expect(await cluster.pod('web')).toSatisfy(isReady);
  expect(cluster.complaints).toEqual([]);
});

test('a new status is written although the first attempt failed with a conflict', async () => {
  await startWith('web');
  let times = 0;
  cluster.api.beforeCall = async (name) => {
    if (name === PATCH && ++times === 1) throw new ApiError('Conflict', 'another writer was faster');
  };
  cluster.runtime.exit('web', 'c', 1);
  await cluster.until('web', (pod) => pod.status.containerStatuses[0].restartCount === 1 && isReady(pod));
});

test('statuses that are overwritten again and again are corrected, less and less often', async () => {
  const names = Array.from({ length: 10 }, (_, at) => `web-${at}`);
  await startWith(...names);
  for (let round = 0; round < 40; round++) {
    await Promise.all(names.map(overwrite));
    await cluster.clock.advance(20);
  }
  expect(writes()).toBeLessThanOrEqual(3 * names.length);
  await cluster.clock.advance(CHECK_MS);
  for (const name of names) expect(await cluster.pod(name)).toSatisfy(isReady);
});

test('a status that the API has lost while it could not be reached is corrected when it can be', async () => {
  await startWith('web');
  cluster.api.isDown = true;
  await overwrite('web');
  await cluster.clock.advance(60_000);
  cluster.api.isDown = false;
  await cluster.clock.advance(CHECK_MS);
  expect(await cluster.pod('web')).toSatisfy(isReady);
});

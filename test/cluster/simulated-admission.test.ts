import { afterEach, expect, test } from 'vitest';
import { Event } from '../../src/kinds/groups/core/event/event.ts';
import { Node } from '../../src/kinds/groups/core/node/node.ts';
import { type SimulatedCluster, simulatedCluster } from '../support/simulated.ts';

let cluster: SimulatedCluster;
afterEach(() => cluster.stop());

const isReady = (pod: any) =>
  pod.status.conditions?.some((each: any) => each.type === 'Ready' && each.status === 'True');
const hasFailed = (pod: any) => pod.status.phase === 'Failed';
const container = (fields: object = {}) => ({ containers: [{ name: 'c', image: 'nginx:1.27', ...fields }] });
const requests = (amounts: object) => container({ resources: { requests: amounts } });

const RULES = { nodes: [{ capacity: { cpu: '2', memory: '1Gi', pods: '3' } }] };

test.each([
  [
    'OutOfcpu',
    requests({ cpu: '3' }),
    "Node didn't have enough resource: cpu, requested: 3000, used: 0, capacity: 2000",
  ],
  [
    'OutOfmemory',
    requests({ memory: '2Gi' }),
    "Node didn't have enough resource: memory, requested: 2147483648, used: 0, capacity: 1073741824",
  ],
  [
    'NodeAffinity',
    { ...container(), nodeSelector: { disk: 'ssd' } },
    "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
  ],
])('a pod that does not fit fails with %s', async (reason, spec, message) => {
  cluster = await simulatedCluster({ rules: RULES });
  await cluster.run('web', { spec });
  const { status } = await cluster.until('web', hasFailed);
  expect(status).toMatchObject({ reason, message: `Pod was rejected: ${message}`, startTime: expect.any(String) });
  expect(status.containerStatuses ?? []).toEqual([]);
  expect(status.podIP).toBeUndefined();
  await cluster.clock.advance(1_000);
  const { items } = await cluster.client.of(Event).in('default').list();
  expect(items.map((each) => `${each.type} ${each.reason} ${each.message}`)).toEqual([`Warning ${reason} ${message}`]);
});

test('host ports and the number of pods are limited, and what has ended makes room', async () => {
  cluster = await simulatedCluster({ rules: RULES });
  const { run, until } = cluster;
  const port = container({ ports: [{ containerPort: 80, hostPort: 8080 }] });
  await run('a', { spec: port });
  await until('a', isReady);
  await run('b', { spec: port });
  expect((await until('b', hasFailed)).status.reason).toBe('NodePorts');
  await run('c');
  await run('d');
  await until('c', isReady);
  await until('d', isReady);
  await run('e');
  const { status } = await until('e', hasFailed);
  expect(status).toMatchObject({
    reason: 'OutOfpods',
    message: "Pod was rejected: Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3",
  });
});

test('a taint that evicts rejects pods that do not tolerate it', async () => {
  cluster = await simulatedCluster({ rules: RULES });
  const { run, until, client, clock } = cluster;
  const taints = [{ key: 'maintenance', effect: 'NoExecute' }];
  await client.of(Node).patch('n1', { type: 'merge', changes: { spec: { taints } } });
  await clock.advance(100);
  await run('web');
  expect((await until('web', hasFailed)).status.reason).toBe('TaintToleration');
  await run('tolerant', { spec: { ...container(), tolerations: [{ operator: 'Exists' }] } });
  await until('tolerant', isReady);
});

test('pods that run are not rejected when the program starts again', async () => {
  cluster = await simulatedCluster({ rules: RULES });
  const { run, until, restart, clock } = cluster;
  await run('a', { spec: requests({ cpu: '1500m' }) });
  await run('b', { spec: requests({ cpu: '500m' }) });
  await until('a', isReady);
  await until('b', isReady);
  await restart();
  await clock.advance(5_000);
  for (const name of ['a', 'b']) expect((await cluster.pod(name)).status.phase).toBe('Running');
});

test('a critical pod takes the place of another one', async () => {
  cluster = await simulatedCluster({ rules: RULES });
  const { run, until } = cluster;
  await run('web', { spec: requests({ cpu: '1500m' }) });
  await until('web', isReady);
  await run('critical', { spec: { ...requests({ cpu: '1' }), priority: 2_000_000_000 } });
  await until('critical', isReady);
  const { status } = await until('web', hasFailed);
  expect(status).toMatchObject({ reason: 'Preempting', message: 'Preempted in order to admit critical pod' });
  expect(status.conditions.find((each: any) => each.type === 'DisruptionTarget')).toMatchObject({
    status: 'True',
    reason: 'TerminationByKubelet',
    message: 'Pod was preempted by Kubelet to accommodate a critical pod.',
  });
});

/** Tests in-place resizes of containers and of pods. */
import { afterEach, expect, test } from 'vitest';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { type AgentCluster, agentCluster } from '../support/agent.ts';

let cluster: AgentCluster;
afterEach(() => cluster.stop());

const isReady = (pod: any) =>
  pod?.status.conditions?.some((each: any) => each.type === 'Ready' && each.status === 'True');
const conditionOf = (pod: any, type: string) => pod.status.conditions?.find((each: any) => each.type === type);

const container = (resources: object, fields: object = {}) => ({ name: 'c', image: 'nginx:1', resources, ...fields });
const cpu = (amount: string) => ({ requests: { cpu: amount }, limits: { cpu: amount } });

async function resize(name: string, spec: object): Promise<void> {
  const pods = cluster.client.of(Pod).in('default');
  await pods.subresource(name, 'resize').patch({ type: 'strategic', changes: { spec } });
}
const resizeContainer = (name: string, resources: object) => resize(name, { containers: [{ name: 'c', resources }] });

/** Runs a pod whose container has these resources. */
async function begin(name: string, resources: object, fields: object = {}) {
  await cluster.run(name, { spec: { containers: [container(resources, fields)] } });
  return cluster.until(name, isReady);
}

test('a container gets its new resources while it runs', async () => {
  cluster = await agentCluster();
  const { until, runtime, events } = cluster;
  const before = await begin('web', cpu('1'));
  expect(before.status.containerStatuses[0]).toMatchObject({ allocatedResources: { cpu: '1' }, resources: cpu('1') });
  await resizeContainer('web', cpu('2'));
  const after = await until('web', (pod) => pod.status.containerStatuses[0].resources.limits.cpu === '2');
  expect(after.status.containerStatuses[0]).toMatchObject({ allocatedResources: { cpu: '2' }, restartCount: 0 });
  await until('web', (pod) => conditionOf(pod, 'PodResizeInProgress') === undefined);
  expect(runtime.newest('web', 'c')?.resources).toMatchObject({ cpuQuota: 200_000, cpuShares: 2_048 });
  expect(runtime.started).toEqual(['web/c/0']);
  const summary =
    '{"containers":[{"name":"c","resources":{"limits":{"cpu":"2"},"requests":{"cpu":"2"}}}],"generation":2}';
  const told = (await events('web')).filter((event) => event.includes('esize'));
  expect(
    told.map((event) =>
      event.replace(
        /"resources":\{"requests":(\{[^}]*\}),"limits":(\{[^}]*\})\}/,
        '"resources":{"limits":$2,"requests":$1}',
      ),
    ),
  ).toEqual([`ResizeStarted: Pod resize started: ${summary}`, `ResizeCompleted: Pod resize completed: ${summary}`]);
});

test('a container whose policy says so is restarted', async () => {
  cluster = await agentCluster();
  const { until, runtime, events } = cluster;
  const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }];
  await begin('web', cpu('1'), { resizePolicy });
  await resizeContainer('web', cpu('2'));
  const { status } = await until('web', (pod) => isReady(pod) && pod.status.containerStatuses[0].restartCount === 1);
  expect(status.containerStatuses[0].resources).toEqual(cpu('2'));
  expect(runtime.newest('web', 'c')?.config.resources).toMatchObject({ cpuQuota: 200_000 });
  expect(await events('web')).toContain('Killing: Container c resize requires restart, will be restarted');
});

test('a resize that the node has no room for waits until there is', async () => {
  cluster = await agentCluster();
  const { until, runtime, events } = cluster;
  await begin('web', cpu('1'));
  await begin('other', cpu('2'));
  await resizeContainer('web', cpu('3'));
  const waiting = await until('web', (pod) => conditionOf(pod, 'PodResizePending'));
  const why = "Node didn't have enough resource: cpu, requested: 3000, used: 2000, capacity: 4000";
  expect(conditionOf(waiting, 'PodResizePending')).toMatchObject({
    ...{ status: 'True', reason: 'Deferred', message: why, observedGeneration: 2 },
  });
  expect(waiting.status.containerStatuses[0]).toMatchObject({ allocatedResources: { cpu: '1' }, resources: cpu('1') });
  expect(
    (await events('web')).filter((event) => event.startsWith('ResizeDeferred: Pod resize OutOfcpu: ')),
  ).toHaveLength(1);
  expect(runtime.calls.filter((call) => call.startsWith('update'))).toEqual([]);
  await cluster.delete('other');
  const done = await until('web', (pod) => pod.status.containerStatuses[0].resources.limits.cpu === '3');
  expect(conditionOf(done, 'PodResizePending')).toBeUndefined();
});

test('a resize that the runtime cannot apply is tried again, and says why', async () => {
  cluster = await agentCluster();
  const { until, runtime, events } = cluster;
  await begin('web', cpu('1'));
  runtime.broken.set('update', new Error('no such cgroup'));
  await resizeContainer('web', cpu('2'));
  const failed = await until('web', (pod) => conditionOf(pod, 'PodResizeInProgress')?.reason === 'Error');
  expect(conditionOf(failed, 'PodResizeInProgress').message).toBe('no such cgroup');
  await cluster.clock.advance(60_000);
  expect((await events('web')).filter((event) => event.startsWith('ResizeError: Pod resize error: '))).toHaveLength(1);
  runtime.broken.clear();
  await until('web', (pod) => pod.status.containerStatuses[0].resources.limits.cpu === '2');
});

test('a pod gets new resources as a whole', async () => {
  cluster = await agentCluster();
  const { until, runtime } = cluster;
  await cluster.run('web', { spec: { resources: cpu('1'), containers: [{ name: 'c', image: 'nginx:1' }] } });
  const before = await until('web', isReady);
  expect(before.status).toMatchObject({ allocatedResources: { cpu: '1' }, resources: cpu('1') });
  await resize('web', { resources: cpu('2') });
  const after = await until('web', (pod) => pod.status.resources.limits.cpu === '2');
  expect(after.status.allocatedResources).toEqual({ cpu: '2' });
  expect(runtime.newest('web', 'c')?.resources).toMatchObject({ cpuQuota: 200_000 });
  expect(runtime.started).toEqual(['web/c/0']);
});

const restartsFor = (...names: readonly string[]) => ({
  resizePolicy: names.map((resourceName) => ({ resourceName, restartPolicy: 'RestartContainer' })),
});

test('containers whose policy says so are restarted when only the resources of their pod change', async () => {
  cluster = await agentCluster();
  const { until, runtime } = cluster;
  const own = { requests: { cpu: '100m' }, limits: { cpu: '100m' } };
  const containers = [
    { name: 'c', image: 'nginx:1', ...restartsFor('cpu') },
    { name: 'limited', image: 'nginx:1', resources: own, ...restartsFor('cpu') },
    { name: 'plain', image: 'nginx:1' },
    { name: 'other', image: 'nginx:1', ...restartsFor('memory') },
  ];
  await cluster.run('web', { spec: { resources: cpu('1'), containers } });
  await until('web', isReady);
  await resize('web', { resources: cpu('2') });
  const isDone = (pod: any) => isReady(pod) && pod.status.resources.limits.cpu === '2';
  const { status } = await until('web', (pod) => isDone(pod) && pod.status.containerStatuses[0].restartCount === 1);
  expect(status.containerStatuses.map((each: any) => [each.name, each.restartCount])).toEqual([
    ...[['c', 1]],
    ...[
      ['limited', 0],
      ['plain', 0],
      ['other', 0],
    ],
  ]);
  await until('web', (pod) => conditionOf(pod, 'PodResizeInProgress') === undefined);
  expect(runtime.newest('web', 'c')?.config.resources).toMatchObject({ cpuQuota: 200_000 });
  expect(runtime.newest('web', 'plain')?.resources).toMatchObject({ cpuQuota: 200_000 });
  expect(runtime.newest('web', 'limited')?.resources).toBeUndefined();
});

test('a pod is resized even if all its containers are restarted for that', async () => {
  cluster = await agentCluster();
  const { until, runtime } = cluster;
  await begin('web', cpu('1'), restartsFor('cpu'));
  await resizeContainer('web', cpu('2'));
  await until('web', (pod) => isReady(pod) && pod.status.containerStatuses[0].restartCount === 1);
  expect(runtime.sizes.get('web')).toMatchObject({ cpuQuota: 200_000 });
});

test('limits that a pod gets later reach its cgroup and its containers', async () => {
  cluster = await agentCluster();
  const { until, runtime } = cluster;
  const resources = { requests: { cpu: '2m' }, limits: { cpu: '10m' } };
  const limited = { name: 'limited', image: 'nginx:1', resources };
  await cluster.run('web', { spec: { containers: [limited, { name: 'c', image: 'nginx:1' }] } });
  const before = await until('web', isReady);
  expect(before.status.allocatedResources).toEqual({ cpu: '2m' });
  expect(before.status.resources).toBeUndefined();
  await resize('web', { resources: { requests: { cpu: '5m' }, limits: { cpu: '25m' } } });
  const after = await until('web', (pod) => pod.status.resources?.limits?.cpu === '25m');
  expect(after.status.allocatedResources).toEqual({ cpu: '5m' });
  await until('web', (pod) => conditionOf(pod, 'PodResizeInProgress') === undefined);
  expect(runtime.sizes.get('web')).toMatchObject({ cpuQuota: 2_500 });
  expect(runtime.newest('web', 'c')?.resources).toMatchObject({ cpuQuota: 2_500 });
  expect(runtime.newest('web', 'limited')?.resources).toBeUndefined();
  expect(runtime.started).toHaveLength(2);
});

test('a pod that cannot shrink before its containers shrinks after them', async () => {
  cluster = await agentCluster();
  const { until, runtime, events } = cluster;
  await begin('web', cpu('2'));
  runtime.broken.set('resize-sandbox', new Error('smaller than what is in it'));
  await resizeContainer('web', cpu('1'));
  await until('web', (pod) => pod.status.containerStatuses[0].resources.limits.cpu === '1');
  runtime.broken.clear();
  await cluster.clock.advance(60_000);
  await until('web', (pod) => conditionOf(pod, 'PodResizeInProgress') === undefined);
  expect(runtime.sizes.get('web')).toMatchObject({ cpuQuota: 100_000 });
  expect((await events('web')).some((event) => event.startsWith('ResizeCompleted'))).toBe(true);
});

test('an init container gets its new resources while it runs', async () => {
  cluster = await agentCluster();
  const { until, runtime } = cluster;
  const init = (resources: object) => ({ ...container(resources), name: 'i' });
  await cluster.run('web', { spec: { initContainers: [init(cpu('1'))], containers: [container(cpu('1'))] } });
  await until('web', (pod) => pod.status.initContainerStatuses?.[0].state.running);
  await resize('web', { initContainers: [{ name: 'i', resources: cpu('2') }] });
  const after = await until('web', (pod) => pod.status.initContainerStatuses[0].resources.limits.cpu === '2');
  expect(after.status.initContainerStatuses[0]).toMatchObject({ allocatedResources: { cpu: '2' }, restartCount: 0 });
  expect(runtime.newest('web', 'i')?.resources).toMatchObject({ cpuQuota: 200_000 });
  await until('web', (pod) => conditionOf(pod, 'PodResizeInProgress') === undefined);
});

test('a container that restarts while a resize is rejected has the resources of before', async () => {
  cluster = await agentCluster();
  const { until, runtime } = cluster;
  await begin('web', cpu('1'));
  await resizeContainer('web', cpu('99'));
  await until('web', (pod) => conditionOf(pod, 'PodResizePending'));
  runtime.exit('web', 'c', 1);
  await cluster.clock.advance(60_000);
  await until('web', (pod) => pod.status.containerStatuses[0].restartCount === 1 && isReady(pod));
  expect(runtime.newest('web', 'c')?.config.resources).toMatchObject({ cpuQuota: 100_000 });
});

test('memory limits do not go below what is in use', async () => {
  cluster = await agentCluster();
  const { until, runtime } = cluster;
  const memory = (amount: string) => ({ requests: { memory: amount }, limits: { memory: amount } });
  await cluster.run('web', { spec: { resources: memory('64Mi'), containers: [{ name: 'c', image: 'nginx:1' }] } });
  await until('web', isReady);
  runtime.workingSet = 2 ** 20;
  await resize('web', { resources: memory('10Ki') });
  const failed = await until('web', (pod) => conditionOf(pod, 'PodResizeInProgress')?.reason === 'Error');
  expect(conditionOf(failed, 'PodResizeInProgress').message).toMatch(/memory limit \(10240\) below current usage/);
  expect(failed.status.resources).toEqual(memory('64Mi'));
  expect(runtime.calls.filter((call) => /^(update|resize-sandbox) /.test(call))).toEqual([]);
  await resize('web', { resources: memory('32Mi') });
  await until('web', (pod) => conditionOf(pod, 'PodResizeInProgress') === undefined);
  expect(runtime.sizes.get('web')).toMatchObject({ memoryBytes: 32 * 2 ** 20 });
});

test('a resize that is not applied when the agent restarts goes on', async () => {
  cluster = await agentCluster();
  const { until, runtime } = cluster;
  await begin('web', cpu('1'));
  await cluster.restart(() => resizeContainer('web', cpu('2')));
  await until('web', (pod) => pod.status.containerStatuses[0].resources.limits.cpu === '2');
  expect(runtime.newest('web', 'c')?.resources).toMatchObject({ cpuQuota: 200_000 });
  expect(runtime.started).toEqual(['web/c/0']);
});

/** In-place resizes of containers and of pods. */
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

test('a resize that is not applied when the agent restarts goes on', async () => {
  cluster = await agentCluster();
  const { until, runtime } = cluster;
  await begin('web', cpu('1'));
  await cluster.restart(() => resizeContainer('web', cpu('2')));
  await until('web', (pod) => pod.status.containerStatuses[0].resources.limits.cpu === '2');
  expect(runtime.newest('web', 'c')?.resources).toMatchObject({ cpuQuota: 200_000 });
  expect(runtime.started).toEqual(['web/c/0']);
});

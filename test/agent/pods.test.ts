import { afterEach, expect, test, vi } from 'vitest';
import { ConfigMap } from '../../src/kinds/groups/core/configuration/config-map.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { type AgentCluster, agentCluster } from '../support/agent.ts';

let cluster: AgentCluster;
const start = async (...given: Parameters<typeof agentCluster>) => {
  cluster = await agentCluster(...given);
  return cluster;
};
afterEach(() => cluster.stop());

/** Returns a promise with its resolve function. */
function once() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}

const isReady = (pod: any) =>
  pod?.status.conditions?.some((each: any) => each.type === 'Ready' && each.status === 'True');

test('a pod is started, reported and deleted', async () => {
  const { run, until, runtime, events, volumes } = await start();
  await run('web');
  const pod = await until('web', isReady);
  expect(pod.status).toMatchObject({
    phase: 'Running',
    podIP: '10.0.0.1',
    hostIP: '192.0.2.1',
    containerStatuses: [{ name: 'c', ready: true, started: true, restartCount: 0, containerID: 'fake://c2' }],
  });
  expect(runtime.calls).toEqual(['run web/0', 'create web/c/0', 'start web/c/0']);
  expect(await events('web')).toEqual([
    'Pulled: Container image "nginx:1" already present on machine and can be accessed by the pod',
    'Created: Container created',
    'Started: Container started',
  ]);
  await cluster.delete('web');
  await until('web', (gone) => gone === undefined);
  expect(runtime.calls.slice(3)).toEqual(['stop web/c/0 30', 'stop-sandbox web/0']);
  expect(runtime.size).toBe(0);
  expect(volumes.prepared.size).toBe(0);
  expect((await events('web')).at(-1)).toBe('Killing: Stopping container c');
  expect(cluster.complaints).toEqual([]);
});

test('a container starts when network policies hold for its pod, and is stopped when Services send it nothing new', async () => {
  const isolated = once();
  const drained = once();
  const asked: unknown[] = [];
  const { run, until, runtime } = await start({
    network: {
      untilIsolated: async (pod, addresses) => {
        asked.push(['isolated', pod.metadata.name, addresses]);
        await isolated.promise;
      },
      untilDrained: async (addresses) => {
        asked.push(['drained', addresses]);
        await drained.promise;
      },
    },
  });
  await run('web');
  await vi.waitFor(() => expect(runtime.calls).toEqual(['run web/0', 'create web/c/0']), 10_000);
  expect(asked).toEqual([['isolated', 'web', ['10.0.0.1']]]);
  isolated.resolve();
  await until('web', isReady);
  await cluster.delete('web');
  await vi.waitFor(() => expect(asked).toContainEqual(['drained', ['10.0.0.1']]), 10_000);
  expect(runtime.calls).not.toContain('stop web/c/0 30');
  drained.resolve();
  await until('web', (gone) => gone === undefined);
  expect(runtime.calls).toContain('stop web/c/0 30');
});

test('nothing happens while nothing happens', async () => {
  const { run, until, runtime, clock } = await start();
  await run('web');
  await until('web', isReady);
  const lists: string[] = [];
  const { containers } = runtime;
  runtime.containers = () => {
    lists.push('list');
    return containers();
  };
  await clock.advance(3_600_000);
  expect(lists).toEqual([]);
});

test('a container that fails is restarted after a growing delay', async () => {
  const { run, until, runtime, clock, events } = await start();
  await run('web');
  await until('web', isReady);
  runtime.exit('web', 'c', 3);
  await until('web', (pod) => pod.status.containerStatuses[0].restartCount === 1 && isReady(pod));
  expect((await cluster.pod('web')).status.containerStatuses[0].lastState.terminated).toMatchObject({
    exitCode: 3,
    reason: 'Error',
  });
  const before = clock.now();
  runtime.exit('web', 'c', 3);
  const waiting = await until('web', (pod) => pod.status.containerStatuses[0].state.waiting);
  expect(waiting.status.containerStatuses[0].state.waiting).toMatchObject({ reason: 'CrashLoopBackOff' });
  await until('web', (pod) => pod.status.containerStatuses[0].restartCount === 2);
  expect(clock.now() - before).toBeGreaterThanOrEqual(10_000);
  expect(
    (await events('web')).some((event) => event.startsWith('BackOff: Back-off restarting failed container c')),
  ).toBe(true);
});

test('the shown restart count saturates at five, and the true one is kept', async () => {
  const { run, until, runtime } = await start();
  await run('web');
  await until('web', isReady);
  for (let restart = 1; restart <= 6; restart++) {
    runtime.exit('web', 'c', 1);
    await until('web', () => runtime.newest('web', 'c')?.attempt === restart);
    await until('web', isReady);
  }
  const { metadata, status } = await cluster.pod('web');
  expect(status.containerStatuses[0].restartCount).toBe(5);
  expect(JSON.parse(metadata.annotations['kubernetes.io/restart-counts'])).toEqual({ c: 6 });
});

test('a pod that succeeds keeps its exit in the status, and its sandbox goes', async () => {
  const { run, until, runtime, volumes } = await start();
  await run('job', { spec: { restartPolicy: 'Never' } });
  await until('job', isReady);
  runtime.exit('job', 'c', 0);
  const { status } = await until('job', (pod) => pod.status.phase === 'Succeeded');
  expect(status.containerStatuses[0].state.terminated).toMatchObject({ exitCode: 0, reason: 'Completed' });
  await until('job', () => runtime.calls.includes('stop-sandbox job/0'));
  await until('job', () => volumes.prepared.size === 0);
});

test('init containers run one by one before the others', async () => {
  const { run, until, runtime } = await start();
  const initContainers = ['a', 'b'].map((name) => ({ name, image: 'nginx:1' }));
  await run('web', { spec: { initContainers } });
  await until('web', () => runtime.newest('web', 'a')?.state === 'running');
  expect(runtime.newest('web', 'b')).toBeUndefined();
  runtime.exit('web', 'a', 0);
  await until('web', () => runtime.newest('web', 'b')?.state === 'running');
  expect(runtime.newest('web', 'c')).toBeUndefined();
  runtime.exit('web', 'b', 0);
  await until('web', isReady);
});

test('probes decide whether it is ready, and restart it', async () => {
  const { run, until, runtime, events } = await start();
  const exec = (name: string) => ({ exec: { command: [name] }, periodSeconds: 1, failureThreshold: 2 });
  runtime.failing.set('ready', 1);
  const container = { name: 'c', image: 'nginx:1', readinessProbe: exec('ready'), livenessProbe: exec('live') };
  await run('web', { spec: { containers: [container] } });
  const unready = await until('web', (pod) => pod.status.containerStatuses?.[0].state.running);
  expect(unready.status.containerStatuses[0].ready).toBe(false);
  runtime.failing.delete('ready');
  await until('web', isReady);
  runtime.failing.set('live', 1);
  await until('web', (pod) => pod.status.containerStatuses[0].restartCount === 1);
  runtime.failing.delete('live');
  await until('web', isReady);
  const all = await events('web');
  expect(all).toContain('Unhealthy: Liveness probe failed: no');
  expect(all).toContain('Killing: Container c failed liveness probe, will be restarted');
});

test('hooks run after the start and before the stop', async () => {
  const { run, until, runtime, events } = await start();
  const hook = (name: string) => ({ exec: { command: [name] } });
  const container = { name: 'c', image: 'nginx:1', lifecycle: { postStart: hook('hello'), preStop: hook('bye') } };
  await run('web', { spec: { containers: [container] } });
  await until('web', isReady);
  runtime.failing.set('bye', 1);
  await cluster.delete('web');
  await until('web', (pod) => pod === undefined);
  expect(runtime.calls.slice(2)).toEqual([
    ...['start web/c/0', 'exec c hello', 'exec c bye', 'stop web/c/0 30', 'stop-sandbox web/0'],
  ]);
  expect(await events('web')).toContain('FailedPreStopHook: PreStopHook failed');
});

test('a postStart hook that fails ends the container', async () => {
  const { run, until, runtime, events } = await start();
  runtime.failing.set('hello', 1);
  const container = { name: 'c', image: 'nginx:1', lifecycle: { postStart: { exec: { command: ['hello'] } } } };
  await run('web', { spec: { containers: [container] } });
  await until('web', (pod) => pod.status.containerStatuses?.[0].state.waiting?.reason === 'PostStartHookError');
  expect(await events('web')).toContain('FailedPostStartHook: PostStartHook failed');
  await until('web', (pod) => pod.status.containerStatuses[0].restartCount >= 1);
});

test('a grace period that is shortened later counts', async () => {
  const { run, until, runtime, clock } = await start();
  runtime.stubborn.add('c');
  await run('web', { spec: { terminationGracePeriodSeconds: 600 } });
  await until('web', isReady);
  await cluster.delete('web');
  await until('web', () => runtime.calls.includes('stop web/c/0 600'));
  const before = clock.now();
  await cluster.delete('web', { gracePeriodSeconds: 5 });
  await until('web', () => runtime.newest('web', 'c')?.state !== 'running');
  expect(clock.now() - before).toBeLessThan(10_000);
});

test('an image that cannot be pulled is tried again', async () => {
  const { run, until, runtime, events } = await start();
  runtime.broken.set('pull', new Error('no such image'));
  await run('web', { spec: { containers: [{ name: 'c', image: 'other:1' }] } });
  const failed = await until(
    'web',
    (pod) => pod.status.containerStatuses?.[0].state.waiting?.reason === 'ErrImagePull',
  );
  expect(failed.status.containerStatuses[0].state.waiting.message).toBe('no such image');
  await until('web', (pod) => pod.status.containerStatuses[0].state.waiting?.reason === 'ImagePullBackOff');
  runtime.broken.clear();
  await until('web', isReady);
  expect(await events('web')).toContain('Failed: Failed to pull image "other:1": no such image');
});

test('a container whose configuration is missing waits for it', async () => {
  const { run, until } = await start();
  const envFrom = [{ configMapRef: { name: 'settings' } }];
  await run('web', { spec: { containers: [{ name: 'c', image: 'nginx:1', envFrom }] } });
  const { status } = await until(
    'web',
    (pod) => pod.status.containerStatuses?.[0].state.waiting?.reason === 'CreateContainerConfigError',
  );
  expect(status.containerStatuses[0].state.waiting.message).toBe('configmap "settings" not found');
});

test.each([
  ['a variable', { env: [{ name: 'Z', value: 'x\0y' }] }, 'environment variable Z contains a zero byte'],
  ['an argument', { args: ['x\0y'] }, 'args[0] contains a zero byte'],
  [
    'a variable from a ConfigMap',
    { envFrom: [{ configMapRef: { name: 'c' } }] },
    'environment variable Z contains a zero byte',
  ],
])('a container with a zero byte in %s never reaches the runtime', async (_, fields, message) => {
  const { run, until, runtime, client } = await start();
  await client
    .of(ConfigMap)
    .in('default')
    .create({ metadata: { name: 'c' }, data: { Z: 'x\0y' } });
  await run('web', { spec: { containers: [{ name: 'c', image: 'nginx:1', ...fields }] } });
  const { status } = await until(
    'web',
    (pod) => pod.status.containerStatuses?.[0].state.waiting?.reason === 'CreateContainerConfigError',
  );
  expect(status.containerStatuses[0].state.waiting.message).toBe(message);
  expect(runtime.calls).toEqual(['run web/0']);
});

test('volumes that cannot be mounted and sandboxes that cannot be made are reported, and tried again', async () => {
  const { run, until, runtime, volumes, events } = await start();
  volumes.broken = new Error('MountVolume.SetUp failed for volume "x": no');
  runtime.broken.set('run', new Error('no address'));
  await run('web');
  await until('web', (pod) => pod.status.phase === 'Pending' && pod.status.startTime);
  await cluster.clock.advance(1_000);
  expect(await events('web')).toContain('FailedMount: MountVolume.SetUp failed for volume "x": no');
  volumes.broken = undefined;
  await cluster.clock.advance(20_000);
  expect(await events('web')).toContain('FailedCreatePodSandBox: Failed to create pod sandbox: no address');
  runtime.broken.clear();
  await until('web', isReady);
});

test('a sandbox that is lost is made again', async () => {
  const { run, until, runtime } = await start();
  await run('web');
  await until('web', isReady);
  runtime.killSandboxOf('web');
  await until('web', () => runtime.calls.includes('run web/1'));
  await until('web', isReady);
});

test('a pod that the node does not admit fails with the reason', async () => {
  const { run, until, runtime, events } = await start();
  const resources = { requests: { cpu: '3' } };
  const spec = { containers: [{ name: 'c', image: 'nginx:1', resources }] };
  await run('first', { spec });
  await until('first', isReady);
  await run('second', { spec });
  const { status } = await until('second', (pod) => pod.status.phase === 'Failed');
  expect(status).toMatchObject({ reason: 'OutOfcpu', message: expect.stringMatching(/^Pod was rejected: .*cpu/) });
  expect(runtime.calls.filter((call) => call.includes('second'))).toEqual([]);
  expect(await events('second')).toEqual([expect.stringMatching(/^OutOfcpu: /)]);
});

test('a pod with features that the runtime lacks is rejected', async () => {
  const { run, until, runtime, events } = await start();
  runtime.rejects = 'no user namespaces here';
  await run('web');
  await until('web', (pod) => pod.status.phase === 'Failed');
  expect(await events('web')).toEqual(['PodFeatureUnsupported: no user namespaces here']);
});

test('a status that another client has overwritten is written again', async () => {
  const { run, until, client } = await start();
  await run('web');
  await until('web', isReady);
  const { Pod } = await import('../../src/kinds/groups/core/pod/pod.ts');
  const changes = { status: { phase: 'Pending' } };
  await client.of(Pod).in('default').patchStatus('web', { type: 'merge', changes });
  await until('web', (pod) => pod.status.phase === 'Running');
});

test('volumes that show the pod follow its changes', async () => {
  const { run, until, client, volumes } = await start();
  await run('web', { metadata: { labels: { app: 'one' } } });
  await until('web', isReady);
  await until('web', () => volumes.refreshed.length > 0);
  const { Pod } = await import('../../src/kinds/groups/core/pod/pod.ts');
  await client
    .of(Pod)
    .in('default')
    .patch('web', { type: 'merge', changes: { metadata: { labels: { app: 'two' } } } });
  await until('web', () => volumes.refreshed.length > 1);
  expect(volumes.refreshed).toEqual([{ app: 'one' }, { app: 'two' }]);
});

test('an evicted pod says so in its conditions, and when nothing of it runs', async () => {
  const { run, until, runtime, agent, events } = await start();
  runtime.stubborn.add('c');
  await run('web');
  await until('web', isReady);
  const [worker] = agent.pods.workers();
  agent.pods.evict(worker!.pod, 'The node was low on resource: memory. ', true);
  await until('web', () => runtime.calls.includes('stop web/c/0 1'));
  expect((await cluster.pod('web')).status.conditions.map(({ type }: any) => type)).not.toContain('DisruptionTarget');
  const { status } = await until('web', (pod) => pod.status.phase === 'Failed');
  expect(status).toMatchObject({ reason: 'Evicted', message: 'The node was low on resource: memory. ' });
  expect(status.conditions.find((each: any) => each.type === 'DisruptionTarget')).toMatchObject({
    ...{ status: 'True', reason: 'TerminationByKubelet', message: 'The node was low on resource: memory. ' },
  });
  expect(await events('web')).toContain('Evicted: The node was low on resource: memory. ');
});

test('a pod stays ready while a container is replaced by one of another image', async () => {
  const { run, until, runtime, client } = await start();
  await run('web');
  await until('web', isReady);
  const created = once();
  let isHeld = false;
  runtime.fault = async (call) => {
    if (call !== 'create web/c/1') return undefined;
    isHeld = true;
    await created.promise;
    return undefined;
  };
  const image = { spec: { containers: [{ name: 'c', image: 'other:1' }] } };
  await client.of(Pod).in('default').patch('web', { type: 'strategic', changes: image });
  const between = await until('web', () => isHeld);
  expect([isReady(between), Object.keys(between.status.containerStatuses[0].state)]).toEqual([true, ['running']]);
  created.resolve();
  const after = await until('web', (pod) => pod.status.containerStatuses[0].image.startsWith('other'));
  expect(isReady(after)).toBe(true);
  expect(after.status.containerStatuses[0].lastState.terminated).toBeDefined();
});

test('a pod whose replaced container cannot start says so', async () => {
  const { run, until, runtime, client } = await start();
  await run('web');
  await until('web', isReady);
  runtime.fault = (call) => (call === 'pull other:1' ? 'before' : undefined);
  const image = { spec: { containers: [{ name: 'c', image: 'other:1' }] } };
  await client.of(Pod).in('default').patch('web', { type: 'strategic', changes: image });
  const { status } = await until('web', (pod) => !isReady(pod));
  expect(status.containerStatuses[0].state.waiting.reason).toBe('ErrImagePull');
});

test('a pod says what it is not separated from', async () => {
  const { until, run, runtime } = await start();
  runtime.limitation = 'Pods share the network of the node.';
  await run('web');
  const { status } = await until('web', isReady);
  const [first] = status.conditions;
  expect(first).toMatchObject({
    ...{ type: 'PodReadyToStartContainers', status: 'True', reason: 'LimitedIsolation' },
    message: 'Pods share the network of the node.',
  });
});

test('a pod says what it asks for and does not get, once', async () => {
  const { until, run, runtime, events, restart } = await start();
  runtime.limitation = 'Pods are processes.';
  runtime.ignoredRequests = ({ metadata }) => (metadata.name === 'web' ? ['limits are not enforced', 'x is not'] : []);
  await run('web');
  await run('other');
  const isDone = (pod: any) => isReady(pod) && pod.status.conditions[0].message !== undefined;
  const message = async (name: string) => (await until(name, isDone)).status.conditions[0].message;
  expect(await message('web')).toBe('Pods are processes. Of this pod, limits are not enforced; x is not.');
  expect(await message('other')).toBe('Pods are processes.');
  await restart();
  await until('web', isReady);
  const warned = 'PodFeatureIgnored: limits are not enforced; x is not';
  expect((await events('web')).filter((event) => event.startsWith('PodFeature'))).toEqual([warned]);
  expect((await events('other')).filter((event) => event.startsWith('PodFeature'))).toEqual([]);
});

test('a readiness probe that fails after a restart of the agent is heeded', async () => {
  const { run, until, runtime, restart, clock } = await start();
  const readinessProbe = { exec: { command: ['ready'] }, periodSeconds: 5, failureThreshold: 2 };
  await run('web', { spec: { containers: [{ name: 'c', image: 'nginx:1', readinessProbe }] } });
  await until('web', isReady);
  await restart(async () => void runtime.failing.set('ready', 1));
  await clock.advance(4_000);
  expect(isReady(await cluster.pod('web'))).toBe(true);
  await until('web', (pod) => !isReady(pod));
});

test('a pod that ends has its readiness probed, and nothing else', async () => {
  const { run, until, runtime, events } = await start();
  runtime.stubborn.add('c');
  const probe = (name: string) => ({ exec: { command: [name] }, periodSeconds: 1, failureThreshold: 1 });
  const container = { name: 'c', image: 'nginx:1', readinessProbe: probe('ready'), livenessProbe: probe('live') };
  await run('web', { spec: { containers: [container], terminationGracePeriodSeconds: 20 } });
  await until('web', isReady);
  await cluster.delete('web');
  await until('web', () => runtime.calls.includes('stop web/c/0 20'));
  for (const name of ['ready', 'live']) runtime.failing.set(name, 1);
  const before = runtime.calls.length;
  await until('web', (pod) => pod && !isReady(pod));
  await until('web', (pod) => pod === undefined);
  expect(runtime.calls.slice(before).filter((call) => call === 'exec c live')).toEqual([]);
  expect((await events('web')).filter((event) => event.startsWith('Unhealthy'))).toEqual([
    'Unhealthy: Readiness probe failed: no',
  ]);
});

/** The agent is stopped in the middle of every call of the runtime, and started anew: nothing is done twice, nothing is left. */
import { afterEach, expect, test } from 'vitest';
import { type AgentCluster, agentCluster } from '../support/agent.ts';
import type { Fault } from '../support/fake-runtime.ts';

let cluster: AgentCluster;
afterEach(() => cluster.stop());

const isReady = (pod: any) =>
  pod?.status.conditions?.some((each: any) => each.type === 'Ready' && each.status === 'True');

const container = (name: string, fields: object = {}) => ({ name, image: 'nginx:1', ...fields });
const SPEC = {
  initContainers: [container('first'), container('side', { restartPolicy: 'Always' })],
  containers: [container('c', { image: 'other:1' }), container('d')],
  terminationGracePeriodSeconds: 5,
};

/** Interrupts the call of this number: the agent never learns how it ended. */
function interrupt(number: number, how: Fault): { readonly isReached: () => boolean; readonly call: () => string } {
  let calls = 0;
  let reached = '';
  cluster.runtime.fault = (call) => {
    if (calls++ !== number) return undefined;
    reached = call;
    return how;
  };
  return { isReached: () => reached !== '', call: () => reached };
}

/** The life of a pod, with a restart of the agent when it is interrupted. */
async function liveWith(number: number, how: Fault): Promise<string> {
  cluster = await agentCluster();
  const { run, until, runtime, volumes } = cluster;
  const interruption = interrupt(number, how);
  let isRestarted = false;
  const reach = async (condition: (pod: any) => boolean) => {
    const met = await until('web', (pod) => (interruption.isReached() && !isRestarted) || condition(pod));
    if (!interruption.isReached() || isRestarted) return met;
    isRestarted = true;
    await cluster.restart();
    return until('web', condition);
  };
  await run('web', { spec: SPEC });
  await reach(() => runtime.newest('web', 'first')?.state === 'running');
  runtime.exit('web', 'first', 0);
  await reach(isReady);
  runtime.exit('web', 'c', 1);
  await reach((pod) => isReady(pod) && pod.status.containerStatuses[0].restartCount === 1);
  await cluster.delete('web');
  await reach((pod) => pod === undefined);
  // The last change may still have to be found.
  if (interruption.isReached() && !isRestarted) await cluster.restart();
  await cluster.clock.advance(60_000);
  expect([runtime.pods, runtime.size, [...volumes.prepared]]).toEqual([[], 0, []]);
  expect(runtime.doubles).toEqual([]);
  expect([...runtime.started].sort()).toEqual(['web/c/0', 'web/c/1', 'web/d/0', 'web/first/0', 'web/side/0']);
  return interruption.call();
}

test.each(['lost before', 'lost after'] as const)(
  'any call is %s its effect, and the agent restarts',
  async (how) => {
    const interrupted: string[] = [];
    for (let number = 0; ; number++) {
      const call = await liveWith(number, how);
      if (call === '') break;
      interrupted.push(call.replace(/ s\d+$| c\d+$/, ''));
      await cluster.stop();
    }
    expect(new Set(interrupted.map((call) => call.split(' ')[0]))).toEqual(
      new Set(['run', 'create', 'start', 'pull', 'stop', 'stop-sandbox', 'remove-sandbox']),
    );
  },
  120_000,
);

test('pods that vanish from the API while it is down leave nothing behind', async () => {
  cluster = await agentCluster();
  const { run, until, runtime, volumes } = cluster;
  await run('web', { spec: SPEC });
  await run('job', { spec: { restartPolicy: 'Never' } });
  await until('web', () => runtime.newest('web', 'first')?.state === 'running');
  await until('job', isReady);
  runtime.exit('job', 'c', 0);
  await until('job', (pod) => pod.status.phase === 'Succeeded' && runtime.calls.includes('stop-sandbox job/0'));
  await cluster.restart(async () => {
    await cluster.delete('web', { gracePeriodSeconds: 0 });
    await cluster.delete('job', { gracePeriodSeconds: 0 });
    volumes.left = [...volumes.prepared, 'somebody'];
  });
  await until('web', () => runtime.size === 0);
  await until('web', () => volumes.released.includes('somebody') && volumes.prepared.size === 0);
  // Like kubelet, the agent gives unknown pods no grace period.
  expect(runtime.calls).toContain('stop web/first/0 1');
});

test('a pod that was deleted while it is down gets what is left of its grace period', async () => {
  cluster = await agentCluster();
  const { run, until, runtime, clock } = cluster;
  await run('web', { spec: { terminationGracePeriodSeconds: 60 } });
  await until('web', isReady);
  await cluster.restart(async () => {
    await cluster.delete('web');
    await clock.advance(40_000);
  });
  await until('web', (pod) => pod === undefined);
  expect(runtime.calls.find((call) => call.startsWith('stop '))).toMatch(/^stop web\/c\/0 (19|20|21)$/);
});

test('containers that ended while it is down are reported, and restarted by their policy', async () => {
  cluster = await agentCluster();
  const { run, until, runtime } = cluster;
  await run('web');
  await run('job', { spec: { restartPolicy: 'Never' } });
  await until('web', isReady);
  await until('job', isReady);
  await cluster.restart(async () => {
    runtime.exit('web', 'c', 7);
    runtime.exit('job', 'c', 3);
  });
  const job = await until('job', (pod) => pod.status.phase === 'Failed');
  expect(job.status.containerStatuses[0].state.terminated).toMatchObject({ exitCode: 3, reason: 'Error' });
  const web = await until('web', (pod) => isReady(pod) && pod.status.containerStatuses[0].restartCount === 1);
  expect(web.status.containerStatuses[0].lastState.terminated).toMatchObject({ exitCode: 7 });
  expect([...runtime.started].sort()).toEqual(['job/c/0', 'web/c/0', 'web/c/1']);
});

test('a pod that was replaced by another of its name while it is down', async () => {
  cluster = await agentCluster();
  const { run, until, runtime } = cluster;
  await run('web');
  const { metadata } = await until('web', isReady);
  await cluster.restart(async () => {
    await cluster.delete('web', { gracePeriodSeconds: 0 });
    await run('web');
  });
  await until('web', (pod) => isReady(pod) && pod.metadata.uid !== metadata.uid && runtime.size === 2);
  expect(runtime.started).toEqual(['web/c/0', 'web/c/0']);
});

test('running pods are left alone while the runtime does not answer', async () => {
  cluster = await agentCluster();
  const { run, until, runtime, clock } = cluster;
  await run('web');
  await until('web', isReady);
  const { sandboxes } = runtime;
  await cluster.restart(async () => {
    runtime.sandboxes = () => Promise.reject(new Error('the runtime does not answer'));
  });
  await clock.advance(30_000);
  expect(isReady(await cluster.pod('web'))).toBe(true);
  runtime.sandboxes = sandboxes;
  await clock.advance(5_000);
  expect(runtime.started).toEqual(['web/c/0']);
  await cluster.delete('web');
  await until('web', (pod) => pod === undefined);
});

test('it stops before it has seen its pods, and while the server does not answer', async () => {
  cluster = await agentCluster();
  await cluster.run('web');
  await cluster.restart();
  await cluster.restart(async () => {
    cluster.api.isDown = true;
  });
  await cluster.restart(async () => {
    cluster.api.isDown = false;
  });
  await cluster.until('web', isReady);
  expect(cluster.runtime.started).toEqual(['web/c/0']);
});

test('containers that started without an answer are neither removed nor started again', async () => {
  cluster = await agentCluster();
  const { run, until, runtime, clock } = cluster;
  runtime.fault = (call) => (call.startsWith('start ') ? 'after' : undefined);
  await run('web', { spec: { containers: [container('a'), container('b')] } });
  await until('web', isReady);
  await clock.advance(60_000);
  expect([...runtime.started].sort()).toEqual(['web/a/0', 'web/b/0']);
});

/** `RestartAllContainers`: the exit of one container restarts all of them, in the same sandbox. */
import { afterEach, expect, test } from 'vitest';
import { type AgentCluster, agentCluster } from '../support/agent.ts';
import type { Fault } from '../support/fake-runtime.ts';

let cluster: AgentCluster;
afterEach(() => cluster.stop());

const isReady = (pod: any) =>
  pod?.status.conditions?.some((each: any) => each.type === 'Ready' && each.status === 'True');
const conditionOf = (pod: any, type: string) => pod.status.conditions?.find((each: any) => each.type === type);

const container = (name: string, fields: object = {}) => ({ name, image: 'nginx:1', ...fields });
const RULES = [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }];
const SPEC = {
  restartPolicy: 'Never',
  initContainers: [container('first'), container('side', { restartPolicy: 'Always' })],
  containers: [container('source', { restartPolicy: 'Never', restartPolicyRules: RULES }), container('other')],
};

/** Runs the pod until it is ready. */
async function begin() {
  cluster = await agentCluster();
  const { run, until, runtime } = cluster;
  await run('web', { spec: SPEC });
  await until('web', () => runtime.newest('web', 'first')?.state === 'running');
  runtime.exit('web', 'first', 0);
  return until('web', isReady);
}

async function expectStartedOver() {
  const { until, runtime } = cluster;
  await until('web', () => runtime.newest('web', 'first')?.attempt === 1);
  expect(runtime.running).toEqual(['web/first/1']);
  runtime.exit('web', 'first', 0);
  const pod = await until('web', (each) => isReady(each) && runtime.running.length === 3);
  expect([...runtime.running].sort()).toEqual(['web/other/1', 'web/side/1', 'web/source/1']);
  expect(runtime.calls.filter((call) => call.startsWith('run '))).toEqual(['run web/0']);
  expect(runtime.doubles).toEqual([]);
  return pod;
}

test('all containers are killed and removed, and start over with their init containers', async () => {
  expect(conditionOf(await begin(), 'AllContainersRestarting')).toMatchObject({ status: 'False' });
  const { runtime, until, events } = cluster;
  // The removal of one container is delayed, so that the state in between is seen.
  let goOn: () => void = () => {};
  const held = new Promise<undefined>((resolve) => {
    goOn = () => resolve(undefined);
  });
  runtime.fault = (call): Fault | Promise<Fault> => (call.startsWith('remove-container') ? held : undefined);
  runtime.exit('web', 'source', 42);
  const between = await until('web', (pod) => conditionOf(pod, 'AllContainersRestarting').status === 'True');
  expect(conditionOf(between, 'AllContainersRestarting')).toMatchObject({
    ...{ reason: 'RestartAllContainersStarted', message: 'container exited with restart policy rule' },
  });
  expect(between.status.phase).toBe('Running');
  goOn();
  const pod = await expectStartedOver();
  expect(conditionOf(pod, 'AllContainersRestarting')).toMatchObject({ status: 'False' });
  expect(conditionOf(pod, 'Initialized')).toMatchObject({ status: 'True' });
  const [source, other] = pod.status.containerStatuses;
  expect(source).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 42 } } });
  expect(other).toMatchObject({
    restartCount: 1,
    lastState: { terminated: { exitCode: 137, reason: 'RestartingAllContainers' } },
  });
  // They are killed without a grace period.
  expect(runtime.calls.filter((call) => /^stop /.test(call)).sort()).toEqual([
    'stop web/other/0 0',
    'stop web/side/0 0',
  ]);
  expect(await events('web')).toContain('Killing: killing');
});

test('other exits do not restart anything', async () => {
  await begin();
  const { runtime, until } = cluster;
  runtime.exit('web', 'source', 1);
  runtime.exit('web', 'other', 0);
  await until('web', (pod) => pod.status.phase === 'Failed');
  expect(runtime.started).toHaveLength(4);
});

test('an agent that is interrupted at any point of it goes on', async () => {
  for (let number = 0; ; number++) {
    await begin();
    const { runtime, until, clock } = cluster;
    let calls = 0;
    let isReached = false;
    runtime.fault = (call) => {
      if (!/^(stop|remove-container)/.test(call) || calls++ !== number) return undefined;
      isReached = true;
      return 'lost after';
    };
    runtime.exit('web', 'source', 42);
    await until('web', () => isReached || runtime.newest('web', 'first')?.attempt === 1);
    await clock.advance(100);
    await cluster.restart();
    await expectStartedOver();
    if (!isReached) break;
    await cluster.stop();
  }
}, 60_000);

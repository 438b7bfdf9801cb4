import { describe, expect, it } from 'vitest';
import { podState } from './pod-state.ts';

const running = (name: string, more: object = {}) => ({
  name,
  ready: true,
  restartCount: 0,
  state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
  ...more,
});
const waiting = (name: string, reason?: string, more: object = {}) => ({
  name,
  ready: false,
  restartCount: 0,
  state: { waiting: reason === undefined ? {} : { reason } },
  ...more,
});
const ended = (name: string, exitCode: number, more: object = {}) => ({
  name,
  ready: false,
  restartCount: 0,
  state: { terminated: { exitCode, ...more } },
});
const endedAt = (finishedAt: string) => ({ lastState: { terminated: { exitCode: 1, finishedAt } } });
const holds = (...types: string[]) => types.map((type) => ({ type, status: 'True' }));

const containers = [{ name: 'one' }, { name: 'two' }];
const pod = (status: object, spec: object = {}, metadata: object = {}) => ({
  metadata,
  spec: { containers, ...spec },
  status,
});

it.each<[string, object, string, string]>([
  ['nothing is known yet', { phase: 'Pending' }, '0/2', 'Pending'],
  ['the pod has a reason of its own', { phase: 'Failed', reason: 'Evicted' }, '0/2', 'Evicted'],
  [
    'scheduling is held back',
    { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] },
    '0/2',
    'SchedulingGated',
  ],
  ['all run', { phase: 'Running', containerStatuses: [running('one'), running('two')] }, '2/2', 'Running'],
  [
    'one is not ready',
    { phase: 'Running', containerStatuses: [running('one', { ready: false }), running('two')] },
    '1/2',
    'Running',
  ],
  [
    'containers are made',
    {
      phase: 'Pending',
      containerStatuses: [waiting('one', 'ContainerCreating'), waiting('two', 'ContainerCreating')],
    },
    '0/2',
    'ContainerCreating',
  ],
  ['a wait has no reason', { phase: 'Pending', containerStatuses: [waiting('one')] }, '0/2', 'Pending'],
  [
    'the first that has something to say decides',
    { phase: 'Running', containerStatuses: [waiting('one', 'CrashLoopBackOff'), waiting('two', 'ErrImagePull')] },
    '0/2',
    'CrashLoopBackOff',
  ],
  [
    'one has ended, for a reason',
    { phase: 'Running', containerStatuses: [running('one'), ended('two', 1, { reason: 'Error' })] },
    '1/2',
    'Error',
  ],
  ['one was killed', { phase: 'Running', containerStatuses: [ended('one', 137, { signal: 9 })] }, '0/2', 'Signal:9'],
  ['one has ended without a word', { phase: 'Failed', containerStatuses: [ended('one', 3)] }, '0/2', 'ExitCode:3'],
  [
    'all are done',
    {
      phase: 'Succeeded',
      containerStatuses: [ended('one', 0, { reason: 'Completed' }), ended('two', 0, { reason: 'Completed' })],
    },
    '0/2',
    'Completed',
  ],
  [
    'one is done and the pod is ready',
    {
      phase: 'Running',
      conditions: holds('Ready'),
      containerStatuses: [ended('one', 0, { reason: 'Completed' }), running('two')],
    },
    '1/2',
    'Running',
  ],
  [
    'one is done and the pod is not ready',
    { phase: 'Running', containerStatuses: [ended('one', 0, { reason: 'Completed' }), running('two')] },
    '1/2',
    'NotReady',
  ],
  [
    'one is done and another has failed',
    {
      phase: 'Failed',
      containerStatuses: [ended('one', 0, { reason: 'Completed' }), ended('two', 2, { reason: 'OOMKilled' })],
    },
    '0/2',
    'OOMKilled',
  ],
])('the reason when %s', (_, status, ready, reason) => {
  const state = podState(pod(status));
  expect([`${state.ready}/${state.containers}`, state.reason]).toEqual([ready, reason]);
});

describe('while it is prepared', () => {
  const initContainers = [{ name: 'first' }, { name: 'second' }];

  it.each<[string, object[], string]>([
    ['none has begun', [waiting('first', 'PodInitializing'), waiting('second', 'PodInitializing')], 'Init:0/2'],
    ['one is through', [ended('first', 0), running('second')], 'Init:1/2'],
    ['one cannot start', [ended('first', 0), waiting('second', 'ErrImagePull')], 'Init:ErrImagePull'],
    ['one has failed', [ended('first', 1, { reason: 'Error' }), waiting('second')], 'Init:Error'],
    ['one has failed silently', [ended('first', 2)], 'Init:ExitCode:2'],
    ['one was killed', [ended('first', 137, { signal: 9 })], 'Init:Signal:9'],
    ['all are through', [ended('first', 0), ended('second', 0)], 'Pending'],
  ])('%s', (_, initContainerStatuses, reason) => {
    const status = { phase: 'Pending', initContainerStatuses };
    expect(podState(pod(status, { initContainers })).reason).toBe(reason);
  });

  it('its containers count once it is known to be prepared', () => {
    const status = {
      phase: 'Running',
      conditions: holds('Initialized', 'Ready'),
      initContainerStatuses: [waiting('first', 'PodInitializing')],
      containerStatuses: [running('one'), running('two')],
    };
    expect(podState(pod(status, { initContainers }))).toMatchObject({ ready: 2, reason: 'Init:0/2' });
  });

  it('init containers that go on count with the others', () => {
    const spec = { initContainers: [{ name: 'proxy', restartPolicy: 'Always' }] };
    const status = {
      phase: 'Running',
      initContainerStatuses: [running('proxy', { started: true, restartCount: 3 })],
      containerStatuses: [running('one', { restartCount: 1 }), running('two')],
    };
    expect(podState(pod(status, spec))).toMatchObject({ ready: 3, containers: 3, reason: 'Running', restarts: 4 });
  });

  it('one that goes on but has not begun holds the pod up', () => {
    const spec = { initContainers: [{ name: 'proxy', restartPolicy: 'Always' }] };
    const status = { phase: 'Pending', initContainerStatuses: [running('proxy', { started: false })] };
    expect(podState(pod(status, spec))).toMatchObject({ ready: 0, containers: 3, reason: 'Init:0/1' });
  });
});

it('restarts are those of all containers, with the latest time', () => {
  const containerStatuses = [
    running('one', { restartCount: 2, ...endedAt('2026-01-02T00:00:00Z') }),
    running('two', { restartCount: 1, ...endedAt('2026-01-01T00:00:00Z') }),
  ];
  const state = podState(pod({ phase: 'Running', containerStatuses }));
  expect(state).toMatchObject({ restarts: 3, lastRestart: '2026-01-02T00:00:00Z' });
});

it('restarts of what prepares the pod count until it is prepared', () => {
  const initContainers = [{ name: 'first' }];
  const first = { restartCount: 5, ...endedAt('2026-01-03T00:00:00Z') };
  const before = { phase: 'Pending', initContainerStatuses: [waiting('first', 'CrashLoopBackOff', first)] };
  expect(podState(pod(before, { initContainers }))).toMatchObject({
    restarts: 5,
    lastRestart: '2026-01-03T00:00:00Z',
  });
  const after = { phase: 'Running', initContainerStatuses: [{ ...ended('first', 0), ...first }] };
  expect(podState(pod(after, { initContainers }))).toMatchObject({ restarts: 0, lastRestart: undefined });
});

describe('a pod that is being deleted', () => {
  const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z' };

  it.each<[object, string]>([
    [{ phase: 'Running', containerStatuses: [running('one')] }, 'Terminating'],
    [{ phase: 'Running', reason: 'NodeLost' }, 'Unknown'],
    [{ phase: 'Succeeded' }, 'Succeeded'],
    [{ phase: 'Failed', reason: 'Evicted' }, 'Evicted'],
  ])('%j is %s', (status, reason) => {
    expect(podState(pod(status, {}, metadata)).reason).toBe(reason);
  });
});

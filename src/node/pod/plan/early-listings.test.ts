import { expect, test } from 'vitest';
import type { Action } from './action.ts';
import { adoptPod } from './adopt.ts';
import { begin, finish, observe } from './record.ts';
import type { ContainerRecord } from './state.ts';

const pod = {
  metadata: { name: 'web', namespace: 'default', uid: 'u' },
  spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Always' },
  status: {},
} as never;

const sandboxes = [{ id: 's', attempt: 0, isReady: true, createdAt: 0, addresses: [] }];

const record = (attempt: number, fields: Partial<ContainerRecord> = {}): ContainerRecord => ({
  ...{ id: `c${attempt}`, statusId: `x://c${attempt}`, sandboxId: 's', name: 'c', attempt, state: 'running' },
  ...{ startedAt: 1, finishedAt: undefined, exitCode: undefined, reason: undefined, message: undefined },
  ...{ image: 'i', imageId: 'i' },
  ...fields,
});

const start = (attempt: number): Action => ({
  ...{
    type: 'start-container',
    container: 'c',
    position: 0,
    attempt,
    image: 'i',
    imageId: 'i',
    resources: undefined,
    podResources: undefined,
  },
});
const plan = (attempt: number) => ({ actions: [start(attempt)], events: [], decisions: [] }) as never;

test('a container that a listing shows before its start has ended is known', () => {
  const state = adoptPod(pod, { sandboxes, containers: [] }, 0);
  begin(state, plan(0), 1);
  observe(state, { revision: state.revision, sandboxes, containers: [record(0)] }, 2);
  finish(state, start(0), { type: 'done' }, 3);
  observe(state, { revision: state.revision, sandboxes, containers: [record(0)] }, 4);
  expect(state.containers[0]?.start).toEqual({ type: 'to-do' });
});

test('a restart that a listing shows first as created is counted, and forgets what probes said before', () => {
  const ended = record(0, { state: 'exited', exitCode: 1, finishedAt: 2 });
  const state = adoptPod(pod, { sandboxes, containers: [ended] }, 3);
  state.containers[0]!.live = false;
  begin(state, plan(1), 4);
  const created = record(1, { state: 'created', startedAt: undefined });
  observe(state, { revision: state.revision, sandboxes, containers: [created, ended] }, 5);
  observe(state, { revision: state.revision, sandboxes, containers: [record(1), ended] }, 6);
  expect(state.containers[0]).toMatchObject({ restarts: 1, crashes: 1, live: undefined });
});

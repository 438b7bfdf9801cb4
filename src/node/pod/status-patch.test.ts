import { expect, test } from 'vitest';
import { Pod } from '../../kinds/groups/core/pod/pod.ts';
import { applyStrategicMergePatch } from '../../schema/patch/strategic-merge.ts';
import type { Condition } from './conditions.ts';
import { type PodStatus, type StatusChange, showsStatus, statusPatch } from './status-patch.ts';

const TIME = '2030-01-01T00:00:00Z';
const condition = (type: string, status: Condition['status'], why: Partial<Condition> = {}): Condition => ({
  type,
  status,
  lastTransitionTime: TIME,
  ...why,
});

const WAITING = condition('Ready', 'False', {
  reason: 'ContainersNotReady',
  message: 'containers with unready status',
});
const READY = condition('Ready', 'True');
const SCHEDULED = condition('PodScheduled', 'True');

const PENDING = {
  phase: 'Pending',
  conditions: [WAITING, SCHEDULED],
  hostIP: '100.64.0.1',
  hostIPs: [{ ip: '100.64.0.1' }],
  podIP: undefined,
  podIPs: undefined,
  startTime: TIME,
  containerStatuses: [],
} as unknown as PodStatus;
const RUNNING = {
  ...PENDING,
  phase: 'Running',
  conditions: [READY, SCHEDULED],
  podIP: '10.0.0.1',
  podIPs: [{ ip: '10.0.0.1' }],
} as PodStatus;

const patchOf = (shown: object, status: PodStatus, more: Partial<StatusChange> = {}) => {
  const pod = { metadata: { name: 'web', uid: '1' }, status: shown };
  return { pod, patch: statusPatch({ pod: pod as never, status, written: undefined, restarts: [], ...more }) };
};

const statusAfter = (shown: object, status: PodStatus) => {
  const { pod, patch } = patchOf(shown, status);
  return (applyStrategicMergePatch(Pod.hub.schema, pod, patch) as { status: object }).status;
};

test('what the pod shows already is not sent', () => {
  expect(patchOf(RUNNING, RUNNING).patch).toEqual({ metadata: { uid: '1' }, status: {} });
  expect(patchOf(PENDING, RUNNING).patch).toEqual({
    metadata: { uid: '1' },
    status: {
      phase: 'Running',
      conditions: [{ ...READY, observedGeneration: null, reason: null, message: null }],
      '$setElementOrder/conditions': [{ type: 'Ready' }, { type: 'PodScheduled' }],
      podIP: '10.0.0.1',
      podIPs: [{ ip: '10.0.0.1' }],
    },
  });
});

test('what was written last counts where the pod does not show it yet', () => {
  expect(patchOf(PENDING, RUNNING, { written: RUNNING }).patch).toEqual({ metadata: { uid: '1' }, status: {} });
});

test('the result is the status, whatever the pod showed before', () => {
  expect(statusAfter({}, RUNNING)).toEqual(RUNNING);
  expect(statusAfter(PENDING, RUNNING)).toEqual(RUNNING);
  expect(statusAfter(RUNNING, { ...PENDING, podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] })).toMatchObject({
    phase: 'Pending',
    conditions: [WAITING, SCHEDULED],
  });
});

test('the result is the status, whatever another client has put into its fields', () => {
  const foreign = {
    ...RUNNING,
    conditions: [
      { ...READY, status: 'False', observedGeneration: 7, reason: 'Lost', message: 'gone' },
      { ...SCHEDULED, lastProbeTime: TIME },
    ],
    ...{ reason: 'NodeLost', message: 'gone', podIPs: [{ ip: '10.0.0.9' }] },
    resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2' } },
    allocatedResources: { cpu: '1', memory: '1Gi' },
  };
  const status = {
    ...RUNNING,
    ...{
      reason: undefined,
      message: undefined,
      resources: { requests: { cpu: '1' } },
      allocatedResources: { cpu: '1' },
    },
  } as PodStatus;
  const after = statusAfter(foreign, status);
  expect(after).toMatchObject({ ...RUNNING, conditions: [{ status: 'True' }, { status: 'True' }] });
  expect(after).not.toHaveProperty('reason');
  expect(after).not.toHaveProperty('resources.limits');
  expect(showsStatus({ metadata: {}, status: foreign } as never, status)).toBe(false);
  expect(showsStatus({ metadata: {}, status: after } as never, status)).toBe(true);
});

test('other addresses take the place of the old ones', () => {
  const moved = { ...RUNNING, podIP: '10.0.0.2', podIPs: [{ ip: '10.0.0.2' }] } as PodStatus;
  expect(statusAfter(RUNNING, moved)).toEqual(moved);
});

test('conditions of others stay, and those of a resize go when it is done', () => {
  const gate = condition('example.com/gate', 'True');
  const resize = condition('PodResizePending', 'True', { reason: 'Deferred' });
  const shown = { ...RUNNING, conditions: [...RUNNING.conditions, gate, resize] };
  const { conditions } = statusAfter(shown, RUNNING) as PodStatus;
  expect(conditions.map(({ type }) => type).sort()).toEqual(['PodScheduled', 'Ready', 'example.com/gate']);
  expect(patchOf({ ...RUNNING, conditions: [...RUNNING.conditions, gate] }, RUNNING).patch).toEqual({
    metadata: { uid: '1' },
    status: {},
  });
});

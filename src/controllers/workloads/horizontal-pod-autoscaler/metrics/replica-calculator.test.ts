/** Effect of pods that are not ready or not measured on the calculated number of replicas. */
import { describe, expect, test } from 'vitest';
import {
  groupPods,
  type PodGroups,
  replicasForAverage,
  replicasForShare,
  replicasForTotal,
  replicasForUtilization,
} from './replica-calculator.ts';
import type { Sample } from './samples.ts';

const NOW = Date.parse('2030-01-01T01:00:00Z');
const tolerance = { up: 0.1, down: 0.1 };
const sample = (value: number, { ago = 0, window = 10 } = {}): Sample => ({
  value: BigInt(value),
  time: NOW - ago * 1000,
  window: window * 1000,
});
const at = (ago: number) => new Date(NOW - ago * 1000).toISOString();

interface PodState {
  readonly phase?: string;
  readonly ready?: boolean;
  /** Seconds since it started, and since it became ready or not. */
  readonly started?: number;
  readonly changed?: number;
  readonly isDeleted?: boolean;
}

const pod = (name: string, state: PodState = {}): any => {
  const { phase = 'Running', ready = true, started = 3600, changed = 3590, isDeleted = false } = state;
  const condition = { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: at(changed) };
  return {
    metadata: { name, ...(isDeleted ? { deletionTimestamp: at(1) } : {}) },
    status: { phase, startTime: at(started), conditions: [condition] },
  };
};

/** Pods p0, p1, … with these usages; undefined when unknown. */
const measured = (...values: (number | undefined)[]): ReadonlyMap<string, Sample> =>
  new Map(values.flatMap((value, index) => (value === undefined ? [] : [[`p${index}`, sample(value)] as const])));
const group = (values: (number | undefined)[], states: PodState[] = []): PodGroups =>
  groupPods(
    values.map((_, index) => pod(`p${index}`, states[index])),
    { samples: measured(...values), resource: 'cpu', now: NOW },
  );

const groupOf = (state: PodState, resource = 'cpu', found = sample(1)) => {
  const { ready, unready, missing, samples } = groupPods([pod('p', state)], {
    ...{ samples: new Map([['p', found]]), resource, now: NOW },
  });
  return samples.size === 0 && unready.length === 0 ? 'ignored' : ready ? 'ready' : unready[0] ? 'unready' : missing[0];
};

test.each<[string, PodState, string]>([
  ['that is ready counts', {}, 'ready'],
  ['that has failed does not', { phase: 'Failed' }, 'ignored'],
  ['that is to go does not', { isDeleted: true }, 'ignored'],
  ['that is pending is not at work', { phase: 'Pending', ready: false }, 'unready'],
  ['that has just started and is not ready is not at work', { started: 60, changed: 60, ready: false }, 'unready'],
  ['that has been ready for less than one measurement is not at work', { started: 60, changed: 5 }, 'unready'],
  ['that has been ready for as long as one measurement counts', { started: 60, changed: 10 }, 'ready'],
  ['that was never ready is not at work', { ready: false, started: 3600, changed: 3580 }, 'unready'],
  ['that was ready once counts', { ready: false, started: 3600, changed: 100 }, 'ready'],
])('a pod %s', (_, state, expected) => {
  expect(groupOf(state)).toBe(expected);
});

test('a pod uses memory from its start', () => {
  expect(groupOf({ started: 5, changed: 5, ready: false }, 'memory')).toBe('ready');
});

describe('utilization', () => {
  const requests = (...values: number[]) => new Map(values.map((value, index) => [`p${index}`, BigInt(value)]));
  const weighed = (values: (number | undefined)[], { states = [], target = 50, replicas = values.length }: any = {}) =>
    replicasForUtilization(group(values, states), requests(...values.map(() => 100)), { target, replicas, tolerance });

  test('above the target scales up, below scales down', () => {
    expect(weighed([100, 100])).toEqual({ replicas: 4, utilization: 100, average: 100n });
    expect(weighed([10, 20, 30]).replicas).toBe(2);
    expect(weighed([30, 50])).toMatchObject({ replicas: 2, utilization: 40 });
  });

  test('within the tolerance changes nothing', () => {
    expect(weighed([54, 55]).replicas).toBe(2);
    expect(weighed([46, 45]).replicas).toBe(2);
    expect(weighed([55, 56]).replicas).toBe(2);
    expect(weighed([57, 56]).replicas).toBe(3);
  });

  test('of unready pods counts as 0 when scaling up', () => {
    const starting = { started: 60, changed: 60, ready: false };
    // Two at 80 would ask for four; a third that is about to help makes three enough.
    expect(weighed([80, 80]).replicas).toBe(4);
    expect(weighed([80, 80, 5], { states: [{}, {}, starting] }).replicas).toBe(3);
    expect(weighed([200, 200, 5], { states: [{}, {}, starting] }).replicas).toBe(8);
  });

  test('of unready pods is ignored when scaling down', () => {
    const states = [{}, {}, { phase: 'Pending' }];
    expect(weighed([10, 10, undefined], { states }).replicas).toBe(1);
    expect(weighed([46, 46, undefined], { states }).replicas).toBe(3);
  });

  test('of pods without a measurement counts as 0 upwards and as 100 % downwards', () => {
    expect(weighed([90, 90, undefined]).replicas).toBe(4);
    expect(weighed([75, undefined]).replicas).toBe(2);
    expect(weighed([10, 10, undefined]).replicas).toBe(3);
    expect(weighed([10, 10, 10, undefined]).replicas).toBe(3);
  });

  test('never reverses for pods without a measurement', () => {
    // Without the two that miss it would be more; with them at nothing it would be fewer.
    expect(weighed([60, undefined, undefined]).replicas).toBe(3);
    expect(weighed([40, undefined]).replicas).toBe(2);
  });

  test('cannot be computed without requests', () => {
    expect(() => replicasForUtilization(group([10]), requests(0), { target: 50, replicas: 1, tolerance })).toThrow(
      'no metrics returned matched known pods',
    );
  });

  test('has a tolerance for each direction', () => {
    const calculate = (value: number, tolerance: { up: number; down: number }) =>
      replicasForUtilization(group([value, value]), requests(100, 100), { target: 50, replicas: 2, tolerance })
        .replicas;
    expect(calculate(70, { up: 0.5, down: 0 })).toBe(2);
    expect(calculate(51, { up: 0, down: 0.5 })).toBe(3);
    expect(calculate(26, { up: 0, down: 0.5 })).toBe(2);
    expect(calculate(24, { up: 0, down: 0.5 })).toBe(1);
  });
});

test('an average is evaluated in the same way', () => {
  expect(replicasForAverage(group([1500, 2500]), { target: 1000n, replicas: 2, tolerance })).toEqual({
    ...{ replicas: 4, average: 2000n },
  });
  expect(replicasForAverage(group([500, undefined]), { target: 1000n, replicas: 2, tolerance }).replicas).toBe(2);
  expect(replicasForAverage(group([200, 200, undefined]), { target: 1000n, replicas: 3, tolerance }).replicas).toBe(2);
});

test('one value for all pods is relative to the ready pods', () => {
  const calculate = (total: number, ready: number, replicas = 3) =>
    replicasForTotal(BigInt(total), () => ready, { target: 100n, replicas, tolerance });
  expect(calculate(200, 3)).toBe(6);
  expect(calculate(200, 1)).toBe(2);
  expect(calculate(105, 1)).toBe(3);
  expect(calculate(50, 3)).toBe(2);
  expect(calculate(350, 0, 0)).toBe(4);
  expect(calculate(2 ** 50, 1000)).toBe(2 ** 31 - 1);
});

test('one value for each pod is divided among them', () => {
  const calculate = (total: number, observed: number) =>
    replicasForShare(BigInt(total), { target: 100n, observed, tolerance });
  expect(calculate(1000, 5)).toEqual({ replicas: 10, average: 200n });
  expect(calculate(310, 3)).toEqual({ replicas: 3, average: 104n });
  expect(calculate(0, 3)).toEqual({ replicas: 0, average: 0n });
  expect(calculate(250, 0)).toMatchObject({ replicas: 3 });
});

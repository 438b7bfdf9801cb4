import { expect, test } from 'vitest';
import { afterProbe, firstProbe, type ProbeProgress, type ProbeTiming, type ProbeType } from './schedule.ts';

const NEW = { startedAt: 0, now: 0, wasReady: false };

/** Returns when each probe ran, and what counted after it. */
function follow(type: ProbeType, timing: ProbeTiming, outcomes: readonly (boolean | undefined)[]) {
  let progress: ProbeProgress = firstProbe(timing, NEW);
  return outcomes.map((outcome) => {
    const at = progress.dueAt ?? Number.NaN;
    progress = afterProbe(type, timing, progress, { outcome, now: at });
    return [at / 1_000, progress.result];
  });
}

test('the first probe comes after the initial delay, the others once a period', () => {
  expect(follow('Readiness', { initialDelaySeconds: 3, periodSeconds: 2 }, [true, true, true])).toEqual([
    [3, true],
    [5, true],
    [7, true],
  ]);
  expect(follow('Readiness', {}, [true, true])).toEqual([
    [0, true],
    [10, true],
  ]);
});

test('a container that was found running is probed at once', () => {
  expect(firstProbe({ initialDelaySeconds: 3 }, { ...NEW, now: 60_000 }).dueAt).toBe(60_000);
});

test('a readiness probe that fails when the container has just started runs again after a second', () => {
  expect(follow('Readiness', { periodSeconds: 10 }, [false, false, true]).map(([at]) => at)).toEqual([0, 1, 11]);
  const others = [
    follow('Liveness', {}, [false, true]),
    follow('Readiness', { initialDelaySeconds: 5 }, [false, true]),
  ];
  expect(others.map((results) => results.map(([at]) => at))).toEqual([
    [0, 10],
    [5, 15],
  ]);
});

test('results count when their threshold is reached in a row', () => {
  const timing = { periodSeconds: 1, successThreshold: 2, failureThreshold: 3 };
  const results = follow('Readiness', timing, [true, true, false, false, true, false, false, false, true, true]);
  expect(results.map(([, result]) => result)).toEqual([
    ...[undefined, true, true, true, true, true, true, false, false, true],
  ]);
});

test('a liveness probe fails after three failures, and stops then', () => {
  expect(follow('Liveness', { periodSeconds: 1 }, [false, false, false, false])).toEqual([
    [0, undefined],
    [1, undefined],
    [2, false],
    [Number.NaN, false],
  ]);
});

test('a startup probe stops when it has succeeded', () => {
  expect(follow('Startup', { periodSeconds: 1, failureThreshold: 9 }, [false, true, true])).toEqual([
    [0, undefined],
    [1, true],
    [Number.NaN, true],
  ]);
});

test('a probe that could not be performed counts for nothing', () => {
  const timing = { periodSeconds: 1, failureThreshold: 2 };
  expect(follow('Liveness', timing, [false, undefined, false]).map(([, result]) => result)).toEqual([
    ...[undefined, undefined, false],
  ]);
});

test('a probe that took longer than its period is followed by the next one at once', () => {
  const progress = firstProbe({ periodSeconds: 1 }, NEW);
  expect(afterProbe('Liveness', { periodSeconds: 1 }, progress, { outcome: true, now: 5_000 }).dueAt).toBe(5_000);
});

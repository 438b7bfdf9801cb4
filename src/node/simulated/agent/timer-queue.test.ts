import { expect, test } from 'vitest';
import { fc, forAllAsync } from '../../../../test/support/property-runs.ts';
import { silent } from '../../../base/log.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { TimerQueue, type TimerTask } from './timer-queue.ts';

test('every task runs once, at the last time that was set, with one timer for all', async () => {
  const step = fc.record({ index: fc.nat(9), delay: fc.option(fc.nat(100)) });
  await forAllAsync({ numRuns: 50 }, fc.array(step), async (steps) => {
    const clock = new ControlledClock(0);
    const timers = new TimerQueue(clock, silent);
    const ran: [number, number][] = [];
    const tasks = Array.from(
      { length: 10 },
      (_, index): TimerTask => ({ dueAt: undefined, run: (now) => void ran.push([now, index]) }),
    );
    const wanted = new Map<number, number>();
    for (const { index, delay } of steps) {
      timers.set(tasks[index]!, delay ?? undefined);
      if (delay === null) wanted.delete(index);
      else wanted.set(index, delay);
      expect(clock.waiting).toBeLessThanOrEqual(1);
    }
    await clock.advance(200);
    const order = (a: number[], b: number[]) => a[0]! - b[0]! || a[1]! - b[1]!;
    expect(ran.map(([at]) => at)).toEqual([...ran.map(([at]) => at)].sort((a, b) => a - b));
    expect(ran.sort(order)).toEqual([...wanted].map(([index, at]) => [at, index]).sort(order));
    expect(clock.waiting).toBe(0);
  });
});

test('a task that sets a new time while it runs is run again', async () => {
  const clock = new ControlledClock(0);
  const timers = new TimerQueue(clock, silent);
  const times: number[] = [];
  const task: TimerTask = {
    dueAt: undefined,
    run(now) {
      times.push(now);
      if (times.length < 3) timers.set(task, now + 10);
    },
  };
  timers.set(task, 5);
  await clock.advance(100);
  expect(times).toEqual([5, 15, 25]);
});

test('a task that fails stops no other', async () => {
  const clock = new ControlledClock(0);
  const errors: unknown[] = [];
  const log = { ...silent, error: (_: string, fields?: object) => void errors.push(fields) };
  const timers = new TimerQueue(clock, log);
  const error = new Error('no');
  const ran: number[] = [];
  const fail = () => {
    throw error;
  };
  timers.set({ dueAt: undefined, run: fail }, 5);
  timers.set({ dueAt: undefined, run: (now) => void ran.push(now) }, 5);
  timers.set({ dueAt: undefined, run: (now) => void ran.push(now) }, 9);
  await clock.advance(10);
  expect(ran).toEqual([5, 9]);
  expect(errors).toEqual([{ error }]);
});

test('a time that is not a number is rejected, and delays nobody', async () => {
  const clock = new ControlledClock(0);
  const timers = new TimerQueue(clock, silent);
  const ran: number[] = [];
  expect(() => timers.set({ dueAt: undefined, run: () => {} }, Number.NaN)).toThrow(RangeError);
  timers.set({ dueAt: undefined, run: (now) => void ran.push(now) }, 5);
  await clock.advance(10);
  expect(ran).toEqual([5]);
  expect(clock.waiting).toBe(0);
});

test('a task that is set again and again leaves little behind', () => {
  const timers = new TimerQueue(new ControlledClock(0), silent);
  const task: TimerTask = { dueAt: undefined, run: () => {} };
  for (let at = 1_000_000; at > 0; at--) timers.set(task, 10_000_000 + at);
  expect(timers.size).toBeLessThan(2000);
});

test('tasks that are due together run in several turns when they take long', async () => {
  const clock = new ControlledClock(0);
  let time = 0;
  const timers = new TimerQueue(
    { now: () => clock.now(), timer: (delay, task) => clock.timer(delay, task), monotonic: () => time },
    silent,
  );
  const ran: number[] = [];
  let perTurn = 0;
  let most = 0;
  const nextTurn = () => {
    perTurn = 0;
  };
  for (let index = 0; index < 100; index++) {
    timers.set(
      {
        dueAt: undefined,
        run: () => {
          time++;
          if (perTurn === 0) setImmediate(nextTurn);
          most = Math.max(most, ++perTurn);
          ran.push(index);
        },
      },
      5,
    );
  }
  await clock.advance(10);
  expect(ran).toHaveLength(100);
  expect(most).toBeLessThanOrEqual(10);
});

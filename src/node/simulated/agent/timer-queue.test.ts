import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ControlledClock } from '../../../base/clock.ts';
import { TimerQueue, type TimerTask } from './timer-queue.ts';

test('every task runs once, at the last time that was set, with one timer for all', async () => {
  const step = fc.record({ index: fc.nat(9), delay: fc.option(fc.nat(100)) });
  await fc.assert(
    fc.asyncProperty(fc.array(step), async (steps) => {
      const clock = new ControlledClock(0);
      const timers = new TimerQueue(clock);
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
    }),
    { numRuns: 50 },
  );
});

test('a task that sets a new time while it runs is run again', async () => {
  const clock = new ControlledClock(0);
  const timers = new TimerQueue(clock);
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

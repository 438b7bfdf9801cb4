import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ControlledClock } from '../../../base/clock.ts';
import { Agenda, type Sleeper } from './agenda.ts';

test('everybody is woken once, at the last time that was said, with one timer for all', async () => {
  const step = fc.record({ who: fc.nat(9), delay: fc.option(fc.nat(100)) });
  await fc.assert(
    fc.asyncProperty(fc.array(step), async (steps) => {
      const clock = new ControlledClock(0);
      const agenda = new Agenda(clock);
      const woken: [number, number][] = [];
      const sleepers = Array.from(
        { length: 10 },
        (_, who): Sleeper => ({ wakesAt: undefined, wake: (now) => void woken.push([now, who]) }),
      );
      const wanted = new Map<number, number>();
      for (const { who, delay } of steps) {
        agenda.set(sleepers[who]!, delay ?? undefined);
        if (delay === null) wanted.delete(who);
        else wanted.set(who, delay);
        expect(clock.waiting).toBeLessThanOrEqual(1);
      }
      await clock.advance(200);
      const order = (a: number[], b: number[]) => a[0]! - b[0]! || a[1]! - b[1]!;
      expect(woken.map(([at]) => at)).toEqual([...woken.map(([at]) => at)].sort((a, b) => a - b));
      expect(woken.sort(order)).toEqual([...wanted].map(([who, at]) => [at, who]).sort(order));
      expect(clock.waiting).toBe(0);
    }),
    { numRuns: 50 },
  );
});

test('one who says a new time while it is woken is woken again', async () => {
  const clock = new ControlledClock(0);
  const agenda = new Agenda(clock);
  const times: number[] = [];
  const sleeper: Sleeper = {
    wakesAt: undefined,
    wake(now) {
      times.push(now);
      if (times.length < 3) agenda.set(sleeper, now + 10);
    },
  };
  agenda.set(sleeper, 5);
  await clock.advance(100);
  expect(times).toEqual([5, 15, 25]);
});

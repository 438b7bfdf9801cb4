import { expect, test } from 'vitest';
import { ControlledClock } from './clock.ts';

test('timers run in the order of their times, then of their creation, at their own time', async () => {
  const clock = new ControlledClock(0);
  const seen: string[] = [];
  const at = (delay: number, name: string) => clock.timer(delay, () => seen.push(`${name} ${clock.now()}`));
  at(20, 'c');
  at(10, 'a');
  at(10, 'b');
  at(31, 'd');
  await clock.advance(30);
  expect(seen).toEqual(['a 10', 'b 10', 'c 20']);
  expect(clock.now()).toBe(30);
  expect(clock.nextAt).toBe(31);
});

test('a cancelled timer does not run, and does not count as waiting', async () => {
  const clock = new ControlledClock(0);
  const timers = Array.from({ length: 5_000 }, (_, index) => clock.timer(1_000 + index, () => expect.unreachable()));
  for (const timer of timers) timer.cancel();
  timers[0]!.cancel();
  expect(clock.waiting).toBe(0);
  expect(clock.nextAt).toBeUndefined();
  await clock.advance(10_000);
});

test('cancelling a timer that has run changes nothing', async () => {
  const clock = new ControlledClock(0);
  const timer = clock.timer(5, () => timer.cancel());
  clock.timer(20, () => undefined);
  await clock.advance(10);
  timer.cancel();
  expect(clock.waiting).toBe(1);
});

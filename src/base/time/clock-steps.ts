/** Moves a controlled clock from timer to timer, and lets everything that follows from one happen before the next. */
import type { ControlledClock } from './clock.ts';

/** Fires the timers that are due next, at most until `target`; resolves with whether there were any. */
export async function stepClock(clock: ControlledClock, target: number, idle: () => Promise<void>): Promise<boolean> {
  const { nextAt } = clock;
  if (nextAt === undefined || !clock.runNext(target)) return false;
  // What is due at the same time happens at the same time.
  while (clock.runNext(nextAt));
  await idle();
  return true;
}

/** Moves the clock to `target`. */
export async function advanceClock(clock: ControlledClock, target: number, idle: () => Promise<void>): Promise<void> {
  await idle();
  while (await stepClock(clock, target, idle));
  clock.skipTo(target);
}

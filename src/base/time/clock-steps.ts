/** Moves a controlled clock from timer to timer, and waits for all consequences of one before the next. */
import type { ControlledClock } from './clock.ts';

/** Fires the timers that are due next, but not after `target`. Resolves with true if there were any. */
export async function stepClock(clock: ControlledClock, target: number, idle: () => Promise<void>): Promise<boolean> {
  const { nextAt } = clock;
  if (nextAt === undefined || !clock.runNext(target)) return false;
  // Timers due at the same time fire together.
  while (clock.runNext(nextAt));
  await idle();
  return true;
}

export async function advanceClock(clock: ControlledClock, target: number, idle: () => Promise<void>): Promise<void> {
  await idle();
  while (await stepClock(clock, target, idle));
  clock.skipTo(target);
}

/** Finds out what blocks the event loop: nothing else runs meanwhile, and every client waits. */

import type { LogFields } from '../log.ts';
import type { Clock, Timer } from '../time/clock.ts';

/** Work that runs in one turn of the event loop, or in several parts. */
export interface Work {
  /** What kind of work it is; one of a few. */
  readonly work: string;
  /** What it is about. Called only if it blocked the event loop. */
  describe(): LogFields;
}

/** Is told what begins to run. */
export interface WorkMonitor {
  /** What runs now, as far as it was said. */
  readonly current?: Work | undefined;
  /** This work runs from now on, until other work begins or the turn of the event loop ends. */
  begin(work: Work): void;
}

export const unmonitored: WorkMonitor = { begin: () => undefined };

const MAX_BLOCKED_MS = 200;

export interface WatchdogOptions {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** Work took longer than `MAX_BLOCKED_MS` in one turn. */
  readonly onBlocked: (work: Work, milliseconds: number) => void;
}

/**
 * Notes what runs and for how long. It needs no timer, so that it wakes no idle process: the first work of a turn schedules a
 * look at the clock for the end of the turn. What begins without a notice counts as part of the work before it.
 */
export class Watchdog implements WorkMonitor {
  readonly #now: () => number;
  readonly #onBlocked: WatchdogOptions['onBlocked'];
  #work: Work | undefined;
  #since = 0;

  constructor({ clock, onBlocked }: WatchdogOptions) {
    this.#now = () => clock.monotonic?.() ?? clock.now();
    this.#onBlocked = onBlocked;
  }

  get current(): Work | undefined {
    return this.#work;
  }

  begin(work: Work): void {
    const now = this.#now();
    if (this.#work === undefined) setImmediate(() => this.#endTurn());
    else if (now - this.#since > MAX_BLOCKED_MS) this.#report(now);
    this.#work = work;
    this.#since = now;
  }

  #endTurn(): void {
    const now = this.#now();
    if (now - this.#since > MAX_BLOCKED_MS) this.#report(now);
    this.#work = undefined;
  }

  #report(now: number): void {
    if (this.#work) this.#onBlocked(this.#work, now - this.#since);
  }
}

const TIMER: Work = { work: 'timer', describe: () => ({}) };

/** A clock by which work is measured, and who is told what runs. */
export type MonitoredClock = Pick<Clock, 'monotonic'> & { readonly monitor?: WorkMonitor };

/** The same clock, whose timers are monitored. */
export function monitoredClock(clock: Clock, monitor: WorkMonitor): Clock & MonitoredClock {
  return {
    monitor,
    now: () => clock.now(),
    ...(clock.monotonic ? { monotonic: () => clock.monotonic?.() ?? 0 } : {}),
    timer: (delay: number, task: () => void): Timer =>
      clock.timer(delay, () => {
        monitor.begin(TIMER);
        task();
      }),
  };
}

/** Detects work that blocks the event loop and with it every client. */

import type { LogFields } from '../log.ts';
import type { Clock, Timer } from '../time/clock.ts';

/** Work that runs in one turn of the event loop, or in several parts. */
export interface Work {
  /** The type of work; one of a few. */
  readonly work: string;
  /** Details for the log. Called only if the work blocked the event loop. */
  describe(): LogFields;
}

/** Receives notice of work that begins. */
export interface WorkMonitor {
  /** The running work, if it was announced. */
  readonly current?: Work | undefined;
  /** Announces work that runs from now on, until other work begins or the turn of the event loop ends. */
  begin(work: Work): void;
}

export const unmonitored: WorkMonitor = { begin: () => undefined };

const MAX_BLOCKED_MS = 200;

export interface WatchdogOptions {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** Called when work took longer than `MAX_BLOCKED_MS` in one turn. */
  readonly onBlocked: (work: Work, milliseconds: number) => void;
}

/**
 * Records which work runs and for how long. It needs no timer, so it does not wake an idle process: the first work of a
 * turn schedules a check for the end of the turn. Unannounced work counts as part of the work before it.
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

/** A clock that measures work, with an optional monitor of that work. */
export type MonitoredClock = Pick<Clock, 'monotonic'> & { readonly monitor?: WorkMonitor };

/** The same clock with monitored timers. */
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

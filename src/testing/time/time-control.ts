/** Moves the clock of a test cluster. Timers fire in order, and everything that follows from one happens before the next. */
import type { Activity } from '../../base/event-loop/activity.ts';
import type { ControlledClock } from '../../base/time/clock.ts';
import { advanceClock, stepClock } from '../../base/time/clock-steps.ts';
import { parseDuration } from '../../base/time/duration.ts';
import type { Duration, SettleOptions, WaitOptions } from '../contract.ts';

const DEFAULT_QUIET_MS = 10_000;
const DEFAULT_WITHIN_MS = 300_000;

interface TimeControlOptions {
  readonly clock: ControlledClock;
  readonly activity: Pick<Activity, 'idle'>;
  /** Grows with every change of an object that counts for `settle`. */
  readonly changes: () => number;
  /** Describes the last such change. */
  readonly lastChange: () => string;
}

export class TimeControl {
  constructor(private readonly options: TimeControlOptions) {}

  idle(): Promise<void> {
    return this.options.activity.idle();
  }

  async advance(time: Duration): Promise<void> {
    const { clock } = this.options;
    await advanceClock(clock, clock.now() + milliseconds(time), () => this.idle());
  }

  async settle({ quiet = DEFAULT_QUIET_MS, within = DEFAULT_WITHIN_MS }: SettleOptions = {}): Promise<void> {
    const { clock, changes, lastChange } = this.options;
    const quietMs = milliseconds(quiet);
    const deadline = clock.now() + milliseconds(within);
    await this.idle();
    let seen = changes();
    let changedAt = clock.now();
    while (await this.#step(Math.min(deadline, changedAt + quietMs))) {
      if (changes() === seen) continue;
      seen = changes();
      changedAt = clock.now();
    }
    if (changedAt + quietMs <= deadline) return;
    throw new Error(`the cluster has not settled within ${within}: the last change was ${lastChange()}`);
  }

  /** Resolves with what `read` returns as soon as that is not undefined. `what` names it in the error. */
  async until<T>(
    read: () => Promise<T | undefined>,
    what: () => string,
    { within = DEFAULT_WITHIN_MS }: WaitOptions = {},
  ): Promise<T> {
    const { clock } = this.options;
    const deadline = clock.now() + milliseconds(within);
    await this.idle();
    for (;;) {
      const found = await read();
      if (found !== undefined) return found;
      if (!(await this.#step(deadline))) throw new Error(`${what()} within ${within}`);
    }
  }

  #step(target: number): Promise<boolean> {
    return stepClock(this.options.clock, target, () => this.idle());
  }
}

export function milliseconds(time: Duration): number {
  const value = typeof time === 'number' ? time : parseDuration(time);
  if (value === undefined || !(value >= 0) || !Number.isFinite(value)) {
    throw new TypeError(`${time} is not a duration: give milliseconds, or text such as 90s, 1h30m or 7d`);
  }
  return value;
}

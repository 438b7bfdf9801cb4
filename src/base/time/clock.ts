import { Heap } from '../collections/heap.ts';

/** The one source of time, so that a test can advance a ControlledClock and the whole cluster moves. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs `task` once, `delay` milliseconds from now. */
  timer(delay: number, task: () => void): Timer;
  /** Monotonic milliseconds, for measuring work. Undefined when work takes no time, as in tests. */
  monotonic?(): number;
}

export interface Timer {
  cancel(): void;
}

/** Resolves after `delay` milliseconds; rejects with the signal's reason when it is aborted first. */
export function sleep(clock: Clock, delay: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = clock.timer(delay, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** The longest delay of a timer in Node; longer ones are chained. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The clock of the machine. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  timer(delay, task) {
    let handle: NodeJS.Timeout;
    const arm = (left: number) => {
      const step = Math.min(left, MAX_TIMER_MS);
      handle = setTimeout(() => (left > step ? arm(left - step) : task()), step);
      handle.unref();
    };
    arm(Math.max(0, delay));
    return { cancel: () => clearTimeout(handle) };
  },
};

interface ControlledTimer {
  readonly at: number;
  readonly order: number;
  /** The pending task; undefined once the timer has run or is cancelled. */
  task: (() => void) | undefined;
}

/** Number of cancelled timers kept beyond the number of pending ones. */
const MAX_CANCELLED_TIMERS = 1000;

/** A clock for tests: time advances only when the test says so. */
export class ControlledClock implements Clock {
  #now: number;
  readonly #timers = new Heap<ControlledTimer>((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order));
  #order = 0;
  #pending = 0;

  constructor(start: number | string = '2030-01-01T00:00:00Z') {
    this.#now = typeof start === 'number' ? start : Date.parse(start);
  }

  now(): number {
    return this.#now;
  }

  timer(delay: number, task: () => void): Timer {
    const entry: ControlledTimer = { at: this.#now + Math.max(0, delay), order: this.#order++, task };
    this.#timers.push(entry);
    this.#pending++;
    return {
      cancel: () => {
        if (!entry.task) return;
        entry.task = undefined;
        this.#pending--;
        if (this.#timers.size > 2 * this.#pending + MAX_CANCELLED_TIMERS) {
          this.#timers.retain((other) => other.task !== undefined);
        }
      },
    };
  }

  /** Advances the time by `delay` milliseconds and runs due timers in order, letting promises settle in between. */
  async advance(delay: number): Promise<void> {
    const target = this.#now + delay;
    do await nextTurn();
    while (this.runNext(target));
    this.#now = target;
    await nextTurn();
  }

  /** Advances to the earliest timer and runs it, if it is due by `target`. Returns whether there was one. */
  runNext(target: number): boolean {
    const { nextAt } = this;
    if (nextAt === undefined || nextAt > target) return false;
    const entry = this.#timers.pop()!;
    const { task } = entry;
    // Cancelling a timer that has run has no effect.
    entry.task = undefined;
    this.#pending--;
    this.#now = Math.max(this.#now, nextAt);
    task?.();
    return true;
  }

  /** Sets the time without running timers; it never goes back. */
  skipTo(time: number): void {
    this.#now = Math.max(this.#now, time);
  }

  /** Time of the earliest timer; undefined when there is none. */
  get nextAt(): number | undefined {
    for (let first = this.#timers.peek(); first; first = this.#timers.peek()) {
      if (first.task) return first.at;
      this.#timers.pop();
    }
    return undefined;
  }

  /** Number of pending timers: an idle component has none. */
  get waiting(): number {
    return this.#pending;
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

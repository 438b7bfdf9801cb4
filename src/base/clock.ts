/**
 * The one source of time. Everything that waits takes it from a Clock, so that a test can
 * advance a ControlledClock and the whole cluster moves.
 */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs `task` once, `delay` milliseconds from now. */
  timer(delay: number, task: () => void): Timer;
  /** Milliseconds from some point in time, of a clock that nobody sets: for measuring work. Absent where work takes no time. */
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

/** A clock for tests: time advances only when the test says so. */
export class ControlledClock implements Clock {
  #now: number;
  #timers: { at: number; order: number; task: () => void }[] = [];
  #order = 0;

  constructor(start: number | string = '2030-01-01T00:00:00Z') {
    this.#now = typeof start === 'number' ? start : Date.parse(start);
  }

  now(): number {
    return this.#now;
  }

  timer(delay: number, task: () => void): Timer {
    const entry = { at: this.#now + Math.max(0, delay), order: this.#order++, task };
    this.#timers.push(entry);
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((other) => other !== entry);
      },
    };
  }

  /** Advances the time by `delay` milliseconds and runs due timers in order, letting promises settle in between. */
  async advance(delay: number): Promise<void> {
    const target = this.#now + delay;
    for (;;) {
      await settle();
      const due = this.#timers
        .filter((entry) => entry.at <= target)
        .sort((a, b) => a.at - b.at || a.order - b.order)[0];
      if (!due) break;
      this.#timers = this.#timers.filter((entry) => entry !== due);
      this.#now = Math.max(this.#now, due.at);
      due.task();
    }
    this.#now = target;
    await settle();
  }

  /** Number of pending timers: an idle component has none. */
  get waiting(): number {
    return this.#timers.length;
  }
}

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

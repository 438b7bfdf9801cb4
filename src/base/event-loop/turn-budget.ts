import { setImmediate as nextTurn } from 'node:timers/promises';
import { memoized } from '../collections/memoized.ts';
import type { MonitoredClock, WorkMonitor } from './watchdog.ts';

/** Time that work sharing a budget may block one turn of the event loop. */
const DEFAULT_BUDGET_MS = 10;

/** Begins work in another turn of the event loop: changes of one turn are handled together. */
export const eachTurn = { pause: () => nextTurn() };

/**
 * Time since the event loop last polled for I/O. All budgets of a clock share it: work of one leaves less time to the
 * others.
 */
class Turn {
  /** Start of the first step in this turn. */
  #startedAt: number | undefined;

  constructor(private readonly clock: MonitoredClock) {}

  elapsed(): number {
    const now = this.clock.monotonic?.() ?? 0;
    if (this.#startedAt === undefined) {
      this.#startedAt = now;
      // The first callback may run before the event loop has polled sockets again; the second does not.
      setImmediate(() => setImmediate(() => (this.#startedAt = undefined)));
    }
    return now - this.#startedAt;
  }
}

const turnOf = memoized((clock: MonitoredClock): Turn => new Turn(clock));

/**
 * Divides long work into turns of the event loop, so that requests are answered in between. All work on one clock
 * together uses no more than its budget in one turn, apart from the step that exceeds it.
 */
export class TurnBudget {
  readonly #turn: Turn;
  readonly #monitor: WorkMonitor | undefined;
  readonly #budgetMs: number;

  constructor(clock: MonitoredClock, budgetMs = DEFAULT_BUDGET_MS) {
    this.#turn = turnOf(clock);
    this.#monitor = clock.monitor;
    this.#budgetMs = budgetMs;
  }

  /** Reports whether the next step must wait: `if (budget.isSpent()) await budget.nextTurn();`. */
  isSpent(): boolean {
    return this.#turn.elapsed() >= this.#budgetMs;
  }

  /** Waits for another turn if this one is used up; undefined when there is no need to wait. */
  pause(): Promise<void> | undefined {
    return this.isSpent() ? this.nextTurn() : undefined;
  }

  /** Resolves in a turn that has budget left. Tells the monitor that the same work continues. */
  async nextTurn(): Promise<void> {
    const work = this.#monitor?.current;
    do await nextTurn();
    while (this.isSpent());
    if (work) this.#monitor?.begin(work);
  }
}

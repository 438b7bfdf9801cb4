import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MonitoredClock, WorkMonitor } from './watchdog.ts';

/** How long work that shares a budget may block one turn of the event loop. */
const DEFAULT_BUDGET_MS = 10;

/** The time since other programs were heard last. All budgets of a clock share it: the work of one leaves less to the others. */
class Turn {
  readonly #clock: MonitoredClock;
  /** When the first step of this turn began. */
  #startedAt: number | undefined;

  constructor(clock: MonitoredClock) {
    this.#clock = clock;
  }

  elapsed(): number {
    const now = this.#clock.monotonic?.() ?? 0;
    if (this.#startedAt === undefined) {
      this.#startedAt = now;
      // The first of them may run before the event loop has looked at sockets again; the second does not.
      setImmediate(() => setImmediate(() => (this.#startedAt = undefined)));
    }
    return now - this.#startedAt;
  }
}

const turns = new WeakMap<MonitoredClock, Turn>();

function turnOf(clock: MonitoredClock): Turn {
  let turn = turns.get(clock);
  if (!turn) {
    turn = new Turn(clock);
    turns.set(clock, turn);
  }
  return turn;
}

/**
 * Divides long work into turns of the event loop, so that requests are answered in between. All work that shares a clock
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

  /** Whether the next step must wait: `if (budget.isSpent()) await budget.nextTurn();` costs nothing while it need not. */
  isSpent(): boolean {
    return this.#turn.elapsed() >= this.#budgetMs;
  }

  /** Waits for another turn if this one is used up; undefined: there is nothing to wait for. */
  pause(): Promise<void> | undefined {
    return this.isSpent() ? this.nextTurn() : undefined;
  }

  /** Resolves in a turn that has something left of its budget. The monitor is told that the same work goes on. */
  async nextTurn(): Promise<void> {
    const work = this.#monitor?.current;
    do await nextTurn();
    while (this.isSpent());
    if (work) this.#monitor?.begin(work);
  }
}

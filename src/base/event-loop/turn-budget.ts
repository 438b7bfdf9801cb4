import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../time/clock.ts';

/** How long work that shares a budget may block one turn of the event loop. */
const DEFAULT_BUDGET_MS = 10;

/**
 * Divides long work into turns of the event loop, so that requests are answered in between. All work that shares a budget
 * together uses no more than that in one turn, apart from the step that exceeds it.
 */
export class TurnBudget {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #budgetMs: number;
  /** When the first step of this turn began. */
  #startedAt: number | undefined;

  constructor(clock: Pick<Clock, 'monotonic'>, budgetMs = DEFAULT_BUDGET_MS) {
    this.#clock = clock;
    this.#budgetMs = budgetMs;
  }

  /** Whether the next step must wait: `if (budget.isSpent()) await budget.nextTurn();` costs nothing while it need not. */
  isSpent(): boolean {
    const now = this.#clock.monotonic?.() ?? 0;
    if (this.#startedAt === undefined) {
      this.#startedAt = now;
      setImmediate(() => {
        this.#startedAt = undefined;
      });
      return false;
    }
    return now - this.#startedAt >= this.#budgetMs;
  }

  /** Waits for another turn if this one is used up; undefined: there is nothing to wait for. */
  pause(): Promise<void> | undefined {
    return this.isSpent() ? this.nextTurn() : undefined;
  }

  /** Resolves in a turn that has something left of its budget. */
  async nextTurn(): Promise<void> {
    do await nextTurn();
    while (this.isSpent());
  }
}

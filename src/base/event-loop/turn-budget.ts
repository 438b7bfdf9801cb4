import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../time/clock.ts';

/** How long work that shares a budget may block one turn of the event loop. */
const DEFAULT_BUDGET_MS = 10;

type TurnClock = Pick<Clock, 'monotonic'>;

/** The time since other programs were heard last. All budgets of a clock share it: the work of one leaves less to the others. */
class Turn {
  readonly #clock: TurnClock;
  /** When the first step of this turn began. */
  #startedAt: number | undefined;

  constructor(clock: TurnClock) {
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

const turns = new WeakMap<TurnClock, Turn>();

function turnOf(clock: TurnClock): Turn {
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
  readonly #budgetMs: number;

  constructor(clock: TurnClock, budgetMs = DEFAULT_BUDGET_MS) {
    this.#turn = turnOf(clock);
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

  /** Resolves in a turn that has something left of its budget. */
  async nextTurn(): Promise<void> {
    do await nextTurn();
    while (this.isSpent());
  }
}

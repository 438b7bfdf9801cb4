import { soon } from './soon.ts';
import type { TurnBudget } from './turn-budget.ts';

/**
 * Spreads tasks for many clients over turns of the event loop: one event can be addressed to thousands of watches, and
 * each needs its own encryption and system call. Tasks run in the order of the calls.
 */
export class PacedTasks {
  #waiting: (() => void)[] = [];
  #next = 0;
  readonly #continueSoon = soon(() => this.#continue());

  /** `onTurn` runs before the tasks of a later turn. */
  constructor(
    private readonly turns: Pick<TurnBudget, 'isSpent'>,
    private readonly onTurn: () => void = () => undefined,
  ) {}

  /** Runs the task, in this turn if there is time left and nothing is queued. */
  run(task: () => void): void {
    if (this.#waiting.length === 0 && !this.turns.isSpent()) {
      task();
      return;
    }
    this.#waiting.push(task);
    this.#continueSoon();
  }

  #continue(): void {
    this.onTurn();
    while (this.#next < this.#waiting.length) {
      if (this.turns.isSpent()) {
        this.#continueSoon();
        return;
      }
      this.#waiting[this.#next++]!();
    }
    this.#waiting = [];
    this.#next = 0;
  }
}

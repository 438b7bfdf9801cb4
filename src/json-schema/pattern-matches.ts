import type { TurnBudget } from '../base/event-loop/turn-budget.ts';
import { matchesAnywhere, regularExpression } from '../base/regular-expression.ts';

/** Ends a run of a validation that has used up its turn. */
export class TurnSpent {}

/** Each run finds out at least so many matches, so that it gets further than the one before. */
const MIN_MATCHES = 32;

/**
 * Matches texts with the patterns of a schema, which takes longer than everything else in a validation. When the turn is spent, the
 * validation starts again in another one, and what was found out is not found out again: it is asked for in the same order.
 */
export class PatternMatches {
  readonly #pace: Pick<TurnBudget, 'isSpent'> | undefined;
  readonly #results: boolean[] = [];
  #next = 0;
  #found = 0;

  /** Without a pace, everything is found out in one turn. */
  constructor(pace?: Pick<TurnBudget, 'isSpent'>) {
    this.#pace = pace;
  }

  /** The validation starts again. */
  rewind(): void {
    this.#next = 0;
    this.#found = 0;
  }

  /** Throws TurnSpent. */
  isMatch(pattern: string, text: string): boolean {
    const known = this.#results[this.#next];
    if (known === undefined && this.#found >= MIN_MATCHES && this.#pace?.isSpent()) throw new TurnSpent();
    this.#next++;
    if (known !== undefined) return known;
    const result = matchesAnywhere(regularExpression(pattern), text);
    this.#results.push(result);
    this.#found++;
    return result;
  }
}

import type { TurnBudget } from '../base/event-loop/turn-budget.ts';
import {
  matchesAnywhere,
  matchingSteps,
  RegularExpressionError,
  regularExpression,
} from '../base/regular-expression.ts';
import type { FieldError } from '../schema/field-error.ts';

/** Ends a run of a validation that has used up its turn. */
export class TurnSpent {}

/** Ends a validation that takes too long. */
export class TooCostly {}

/** Each run finds out at least so much, so that it gets further than the one before. A step takes up to 50 ns. */
const MIN_STEPS = 50_000;
const STEPS_PER_MATCH = 20;
const STEPS_PER_ALTERNATIVE = 10;
/** What it takes to compile an instruction. */
const STEPS_PER_INSTRUCTION = 70;
/** What all matches of a validation may take: some seconds. */
const MAX_STEPS = 100_000_000;
/** How many schemas are applied inside `allOf`, `anyOf`, `oneOf` and `not`: only these can be far more than the value has parts. */
const MAX_ALTERNATIVES = 500_000;

/** What a composition of schemas says about a value. */
interface Outcome {
  readonly found: readonly FieldError[];
  readonly applied: number;
}

/** Whether a text matches a pattern, if that can be found out in time. */
type Match = boolean | 'too long';

/**
 * How far a validation is. Patterns and compositions of schemas take longer than everything else in it. When the turn is spent, the
 * validation starts again in another one, and what was found out is not found out again: it is asked for in the same order.
 */
export class Progress {
  readonly #pace: Pick<TurnBudget, 'isSpent'> | undefined;
  /** Those inside a composition are forgotten when its outcome is known. */
  readonly #matches: Match[] = [];
  /** Of compositions that are inside no other. */
  readonly #outcomes: Outcome[] = [];
  /** Those that were compiled. */
  readonly #patterns = new Set<string>();
  #nextMatch = 0;
  #nextOutcome = 0;
  #isComposing = false;
  /** In all compositions whose outcome is known, and in the one that is not. */
  #alternatives = 0;
  #newAlternatives = 0;
  #steps = 0;
  #stepsBefore = 0;

  /** Without a pace, everything is found out in one turn. */
  constructor(pace?: Pick<TurnBudget, 'isSpent'>) {
    this.#pace = pace;
  }

  /** The validation starts again. */
  rewind(): void {
    this.#nextMatch = 0;
    this.#nextOutcome = 0;
    this.#isComposing = false;
    this.#newAlternatives = 0;
    this.#stepsBefore = this.#steps;
  }

  /** A schema is applied. Throws TooCostly. */
  apply(): void {
    if (!this.#isComposing) return;
    this.#newAlternatives++;
    if (this.#alternatives + this.#newAlternatives > MAX_ALTERNATIVES) throw new TooCostly();
  }

  /** Throws TurnSpent and TooCostly. */
  isMatch(pattern: string, text: string): Match {
    const known = this.#matches[this.#nextMatch];
    if (known === undefined) this.#pause();
    this.#nextMatch++;
    if (known !== undefined) return known;
    const expression = regularExpression(pattern);
    this.#steps += matchingSteps(expression, text) + STEPS_PER_MATCH;
    if (!this.#patterns.has(pattern)) this.#steps += expression.programSize() * STEPS_PER_INSTRUCTION;
    this.#patterns.add(pattern);
    if (this.#steps > MAX_STEPS) throw new TooCostly();
    const result = match(expression, text);
    this.#matches.push(result);
    return result;
  }

  /** What a composition says; undefined inside another one. Throws TurnSpent and TooCostly. */
  compose(apply: () => Outcome): Outcome | undefined {
    if (this.#isComposing) return undefined;
    const known = this.#outcomes[this.#nextOutcome];
    if (!known) this.#pause();
    this.#nextOutcome++;
    if (known) return known;
    const match = this.#nextMatch;
    this.#isComposing = true;
    const outcome = apply();
    this.#isComposing = false;
    this.#matches.length = match;
    this.#nextMatch = match;
    this.#alternatives += this.#newAlternatives;
    this.#steps += this.#newAlternatives * STEPS_PER_ALTERNATIVE;
    this.#newAlternatives = 0;
    this.#outcomes.push(outcome);
    return outcome;
  }

  #pause(): void {
    if (this.#steps - this.#stepsBefore >= MIN_STEPS && this.#pace?.isSpent()) throw new TurnSpent();
  }
}

function match(expression: ReturnType<typeof regularExpression>, text: string): Match {
  try {
    return matchesAnywhere(expression, text);
  } catch (error) {
    if (error instanceof RegularExpressionError) return 'too long';
    throw error;
  }
}

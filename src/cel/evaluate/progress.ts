/**
 * Keeps the progress of an evaluation, so that it can be interrupted and go on later. After an interruption the
 * expression is evaluated from its beginning, but its long parts (folds, and functions that read whole values) are not:
 * finished parts return their kept results, and folds go on with the element at which they were interrupted. The
 * repeated work is bounded by the length of the expression, not by the size of values.
 */
import type { Pace } from '../../base/event-loop/in-turns.ts';
import { TurnSpent } from '../../base/event-loop/replay.ts';
import { Failure } from '../values/failure.ts';
import type { Value } from '../values/value.ts';

/** Cost of the evaluation so far. */
interface Metered {
  cost: number;
}

/** Units between two looks at the clock. Most take some 50 ns each, conversions of times 2 µs. */
const COST_BETWEEN_CHECKS = 1_000;

/** Long part of an expression that has begun. Parts that its evaluation contains follow it in the list of parts. */
export interface Part {
  readonly index: number;
  /** The cost of the whole evaluation when the part ended or, while it is under way, when its state was kept. */
  cost: number;
  outcome: Value | Failure | undefined;
  /** Position of a fold; undefined before it has evaluated its range. */
  state: unknown;
}

export class Progress {
  /** Parts in the order in which they began; those inside a part that has ended are forgotten. */
  readonly #parts: Part[] = [];
  /** Index of the next part in this run. */
  #next = 0;
  #checkedAt = 0;

  constructor(private readonly pace: Pace) {}

  /** The evaluation starts again from the beginning of the expression. */
  rewind(): void {
    this.#next = 0;
  }

  /** Evaluates a part, unless an earlier run has finished it. */
  once(frame: Metered, evaluate: (part: Part) => Value): Value {
    const part = this.#begin();
    if (part.outcome === undefined) {
      try {
        this.#check(frame);
        part.outcome = evaluate(part);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        part.outcome = error;
      }
      this.keep(frame, part);
    }
    frame.cost = part.cost;
    if (part.outcome instanceof Failure) throw part.outcome;
    return part.outcome;
  }

  /** The state of a part is complete: the parts inside it are not needed any more, and a run may be interrupted here. */
  keep(frame: Metered, part: Part): void {
    part.cost = frame.cost;
    this.#parts.length = part.index + 1;
    this.#next = part.index + 1;
    if (part.outcome === undefined) this.#check(frame);
  }

  #begin(): Part {
    const index = this.#next++;
    let part = this.#parts[index];
    if (part === undefined) {
      part = { index, cost: 0, outcome: undefined, state: undefined };
      this.#parts.push(part);
    }
    return part;
  }

  #check(frame: Metered): void {
    if (frame.cost - this.#checkedAt < COST_BETWEEN_CHECKS) return;
    this.#checkedAt = frame.cost;
    if (this.pace.isSpent()) throw new TurnSpent();
  }
}

/** The state of one evaluation. */
import type { Value } from '../values/value.ts';
import type { Progress } from './progress.ts';

/** Ends an evaluation that has exceeded its cost limit. Nothing in an expression can absorb it. */
export class CostExceeded {}

export interface Variables {
  readonly [name: string]: Value;
}

export class Frame {
  readonly variables: Variables;
  /** Variables of comprehensions, by slot; an accumulator may hold a Failure. */
  readonly locals: unknown[];
  readonly limit: number;
  /** Progress; undefined while the evaluation is not expected to take long. */
  readonly progress: Progress | undefined;
  cost = 0;
  /** Counted by deep equality. */
  steps = 0;

  constructor(variables: Variables, slots: number, limit: number, progress?: Progress) {
    this.variables = variables;
    this.locals = slots === 0 ? NO_LOCALS : new Array(slots);
    this.limit = limit;
    this.progress = progress;
  }
}

const NO_LOCALS: unknown[] = [];

/** A part of a compiled expression. Throws a Failure. */
export type Evaluator = (frame: Frame) => Value;

export function charge(frame: Frame, units: number): void {
  frame.cost += units;
  if (frame.cost > frame.limit) throw new CostExceeded();
}

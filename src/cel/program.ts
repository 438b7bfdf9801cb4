/** Compiles expressions and runs them. */
import type { DividedWork, Pace } from '../base/event-loop/in-turns.ts';
import { replayed, TurnSpent } from '../base/event-loop/replay.ts';
import { type Checked, check } from './check/checker.ts';
import { checkLiterals } from './check/literals.ts';
import { estimateCost, type SizeLimits } from './cost/estimate.ts';
import type { Range } from './cost/range.ts';
import type { Environment } from './environment.ts';
import { type Compiled, compileExpression } from './evaluate/compile.ts';
import { CostExceeded, Frame, type Variables } from './evaluate/frame.ts';
import { Progress } from './evaluate/progress.ts';
import { formatIssue, type Issue } from './syntax/issues.ts';
import { parse } from './syntax/parser.ts';
import type { Type } from './types/type.ts';
import { Failure } from './values/failure.ts';
import { forgetKeys } from './values/map.ts';
import type { Value } from './values/value.ts';

/** Limit for the cost of one evaluation: Kubernetes' limit for a call. */
const CALL_LIMIT = 1_000_000;

/** Cost from which an evaluation counts as long: it then starts again in a form that can be interrupted. */
const QUICK_COST = 5_000;

/** An expression failed while it ran; the message is cel-go's. */
export class EvaluationError extends Error {}

/** An evaluation was stopped, because it or the budget that it shares with others was used up. */
export class CostLimitError extends EvaluationError {
  constructor(readonly scope: 'call' | 'budget') {
    super('operation cancelled: actual cost limit exceeded');
  }
}

/** Budget shared by several evaluations. */
export class CostBudget {
  used = 0;

  constructor(readonly limit: number) {}
}

/** An expression cannot be compiled. The message shows all issues, as cel-go does. */
export class CompileError extends Error {
  constructor(
    readonly issues: readonly Issue[],
    source: string,
  ) {
    super(issues.map((issue) => formatIssue(issue, source)).join('\n'));
  }
}

export function compile(source: string, environment: Environment): Program {
  const parsed = parse(source, (name, member, arity) => environment.macro(name, member, arity));
  if (parsed.issues.length > 0) throw new CompileError(parsed.issues, source);
  const { checked, issues } = check(parsed.expression, environment);
  if (issues.length > 0) throw new CompileError(issues, source);
  const wrongLiterals = checkLiterals(parsed.expression);
  if (wrongLiterals.length > 0) throw new CompileError(wrongLiterals, source);
  return new Program(source, checked);
}

export class Program {
  #compiled: Compiled | undefined;

  constructor(
    readonly source: string,
    private readonly checked: Checked,
  ) {}

  get resultType(): Type {
    return this.checked.typeOf(this.checked.expression);
  }

  /** The variables of the environment that the expression mentions. */
  get variables(): ReadonlySet<string> {
    return this.checked.variables;
  }

  /** Estimates the minimum and maximum cost of an evaluation if values are no larger than the limits say. */
  estimateCost(limits: SizeLimits): Range {
    return estimateCost(this.checked, limits);
  }

  /** Runs the expression. Variables may be getters, which are called when the expression reads them. Throws an EvaluationError. */
  evaluate(variables: Variables, budget?: CostBudget): Value {
    return evaluateWithin(this.#run(variables, budget));
  }

  /** Works like `evaluate`, as work that yields when the pace is spent. */
  *evaluateInTurns(variables: Variables, budget: CostBudget | undefined, pace: Pace): DividedWork<Value> {
    const value = this.evaluateQuickly(variables, budget);
    return value === undefined ? yield* this.evaluateLong(variables, budget, pace) : value;
  }

  /** Works like `evaluate`, but returns undefined when the evaluation, or that of a variable, turns out to be long. */
  evaluateQuickly(variables: Variables, budget: CostBudget | undefined): Value | undefined {
    const { compiled, limit } = this.#run(variables, budget);
    if (limit <= QUICK_COST) return undefined;
    try {
      return evaluateIn(compiled, new Frame(variables, compiled.slots, QUICK_COST), budget);
    } catch (error) {
      if (error instanceof CostExceeded || error instanceof TurnSpent) return undefined;
      throw error;
    }
  }

  /** Works like `evaluateInTurns` for an evaluation that is known to be long. */
  evaluateLong(variables: Variables, budget: CostBudget | undefined, pace: Pace): DividedWork<Value> {
    const run = this.#run(variables, budget);
    const progress = new Progress(pace);
    return replayed(() => {
      progress.rewind();
      return evaluateWithin(run, progress);
    });
  }

  #run(variables: Variables, budget: CostBudget | undefined): Run {
    this.#compiled ??= compileExpression(this.checked);
    const left = budget === undefined ? Number.POSITIVE_INFINITY : budget.limit - budget.used;
    const scope = CALL_LIMIT <= left ? 'call' : 'budget';
    return { compiled: this.#compiled, variables, budget, limit: Math.min(CALL_LIMIT, left), scope };
  }
}

/** Evaluation of a program. */
interface Run {
  readonly compiled: Compiled;
  readonly variables: Variables;
  readonly budget: CostBudget | undefined;
  readonly limit: number;
  /** Scope that the limit belongs to. */
  readonly scope: CostLimitError['scope'];
}

function evaluateWithin({ compiled, variables, budget, limit, scope }: Run, progress?: Progress): Value {
  const frame = new Frame(variables, compiled.slots, limit, progress);
  try {
    return evaluateIn(compiled, frame, budget);
  } catch (error) {
    if (!(error instanceof CostExceeded)) throw error;
    if (budget !== undefined) budget.used += frame.cost;
    throw new CostLimitError(scope);
  }
}

function evaluateIn({ evaluate }: Compiled, frame: Frame, budget: CostBudget | undefined): Value {
  let isFinished = true;
  forgetKeys();
  try {
    return evaluate(frame);
  } catch (error) {
    isFinished = error instanceof Failure;
    throw error instanceof Failure ? new EvaluationError(error.message) : error;
  } finally {
    forgetKeys();
    if (isFinished && budget !== undefined) budget.used += frame.cost;
  }
}

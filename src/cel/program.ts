/** Compiles expressions and runs them. */
import { type Checked, check } from './check/checker.ts';
import { checkLiterals } from './check/literals.ts';
import { estimateCost, type SizeLimits } from './cost/estimate.ts';
import type { Range } from './cost/range.ts';
import type { Environment } from './environment.ts';
import { type Compiled, compileExpression } from './evaluate/compile.ts';
import { CostExceeded, Frame, type Variables } from './evaluate/frame.ts';
import { Interrupted, type Pace, Progress } from './evaluate/progress.ts';
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
  readonly scope: 'call' | 'budget';

  constructor(scope: 'call' | 'budget') {
    super('operation cancelled: actual cost limit exceeded');
    this.scope = scope;
  }
}

/** Budget shared by several evaluations. */
export class CostBudget {
  readonly limit: number;
  used = 0;

  constructor(limit: number) {
    this.limit = limit;
  }
}

/** An expression cannot be compiled. The message shows all issues, as cel-go does. */
export class CompileError extends Error {
  readonly issues: readonly Issue[];

  constructor(issues: readonly Issue[], source: string) {
    super(issues.map((issue) => formatIssue(issue, source)).join('\n'));
    this.issues = issues;
  }
}

/** Compiles an expression. Throws a CompileError. */
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
  readonly source: string;
  readonly #checked: Checked;
  #compiled: Compiled | undefined;

  constructor(source: string, checked: Checked) {
    this.source = source;
    this.#checked = checked;
  }

  get resultType(): Type {
    return this.#checked.typeOf(this.#checked.expression);
  }

  /** The variables of the environment that the expression mentions. */
  get variables(): ReadonlySet<string> {
    return this.#checked.variables;
  }

  /** Estimates the minimum and maximum cost of an evaluation if values are no larger than the limits say. */
  estimateCost(limits: SizeLimits): Range {
    return estimateCost(this.#checked, limits);
  }

  /**
   * Runs the expression. Variables may be getters, which are called when the expression reads them. Throws an EvaluationError;
   * with a pace, also an evaluation that is Paused.
   */
  evaluate(variables: Variables, budget?: CostBudget, pace?: Pace): Value {
    this.#compiled ??= compileExpression(this.#checked);
    const compiled = this.#compiled;
    const left = budget === undefined ? Number.POSITIVE_INFINITY : budget.limit - budget.used;
    const limit = Math.min(CALL_LIMIT, left);
    if (pace !== undefined && limit > QUICK_COST) {
      try {
        return evaluateIn(compiled, new Frame(variables, compiled.slots, QUICK_COST), budget);
      } catch (error) {
        // A variable may itself be an evaluation that has paused.
        if (!(error instanceof CostExceeded) && !(error instanceof Paused)) throw error;
      }
    }
    const run = { compiled, variables, budget, limit, scope: CALL_LIMIT <= left ? 'call' : 'budget' } as const;
    return pace === undefined ? evaluateWithin(run) : new Paused(run, pace).resume();
  }
}

/** An evaluation that has used up its turn. It is thrown, and its catcher resumes it in another turn. */
export class Paused {
  readonly #run: Run;
  readonly #progress: Progress;

  constructor(run: Run, pace: Pace) {
    this.#run = run;
    this.#progress = new Progress(pace);
  }

  /** Goes on with the evaluation, which may pause again. Throws what `Program.evaluate` does. */
  resume(): Value {
    this.#progress.rewind();
    try {
      return evaluateWithin(this.#run, this.#progress);
    } catch (error) {
      throw error instanceof Interrupted || error instanceof Paused ? this : error;
    }
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

/** Evaluates a frame. The cost of an evaluation that was cut short is not counted. */
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

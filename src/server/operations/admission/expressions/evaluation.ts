import { inTurns } from '../../../../base/event-loop/in-turns.ts';
import { CostBudget, CostLimitError, EvaluationError } from '../../../../cel/program.ts';
import type { Value } from '../../../../cel/values/value.ts';
import type { Compiled } from '../../../../kinds/groups/extension/admissionregistration/expressions/compile.ts';
import type { MaybeAsync } from '../../../objects/conversion/convert.ts';
import type { Activation } from './activation.ts';

/** Cost limit for validations, annotations or one mutation of a policy, for all parameters of a binding together. */
export const POLICY_COST_BUDGET = 10_000_000;
/** Cost limit for the match conditions of a webhook or policy together. */
const MATCH_CONDITIONS_COST_BUDGET = 2_500_000;

/** An expression that failed; the failure policy decides about the request. */
export class ExpressionFailed extends Error {
  override readonly name: string = 'ExpressionFailed';
}

/** A failure because expressions together exceeded their budget: none of the others is evaluated. */
export class OutOfBudget extends ExpressionFailed {
  override readonly name = 'OutOfBudget';

  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run');
  }
}

/** Evaluates an expression, synchronously unless it takes long or waits. Throws or rejects with ExpressionFailed. */
export function evaluate(compiled: Compiled, activation: Activation, budget: CostBudget): MaybeAsync<Value> {
  const { program, text } = compiled;
  if (!program) throw new ExpressionFailed(`compilation error: ${compiled.error}`);
  const { turns } = activation;
  try {
    const variables = activation.during(budget);
    const quick = program.evaluateQuickly(variables, budget);
    if (quick !== undefined) return quick;
    const value = inTurns(turns, program.evaluateLong(variables, budget, turns));
    return value instanceof Promise ? value.catch((error) => reject(error, text)) : value;
  } catch (error) {
    return reject(error, text);
  }
}

function reject(error: unknown, text: string): never {
  if (!(error instanceof EvaluationError)) throw error;
  if (error instanceof CostLimitError && error.scope === 'budget') throw new OutOfBudget();
  throw new ExpressionFailed(`expression '${text}' resulted in error: ${error.message}`);
}

/** Reports whether all conditions are true. A false one decides; throws ExpressionFailed if some fail and none is. */
export async function matchesConditions(conditions: readonly Compiled[], activation: Activation): Promise<boolean> {
  if (conditions.length === 0) return true;
  const budget = new CostBudget(MATCH_CONDITIONS_COST_BUDGET);
  const problems = new Set<string>();
  for (const condition of conditions) {
    try {
      if ((await evaluate(condition, activation, budget)) === false) return false;
    } catch (error) {
      if (!(error instanceof ExpressionFailed) || error instanceof OutOfBudget) throw error;
      problems.add(error.message);
    }
  }
  if (problems.size === 0) return true;
  throw new ExpressionFailed(problems.size === 1 ? [...problems][0] : `[${[...problems].join(', ')}]`);
}

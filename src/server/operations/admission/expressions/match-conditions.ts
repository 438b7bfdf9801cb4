import { CostBudget } from '../../../../cel/program.ts';
import type { Compiled } from '../../../../kinds/groups/extension/admissionregistration/expressions/compile.ts';
import type { Activation } from './activation.ts';
import { ExpressionFailed, evaluate, MATCH_CONDITIONS_COST_BUDGET, OutOfBudget } from './evaluation.ts';

/**
 * Reports whether all conditions are true. A false one decides, whatever the others are. Throws ExpressionFailed when
 * some fail and none is false.
 */
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

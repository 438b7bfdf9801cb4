/** The compiled expressions of a ValidatingAdmissionPolicy, and their decisions. */
import type { TurnBudget } from '../../../../base/event-loop/turn-budget.ts';
import { CostBudget } from '../../../../cel/program.ts';
import type { Value } from '../../../../cel/values/value.ts';
import type { Compiled } from '../../../../kinds/groups/extension/admissionregistration/expressions/compile.ts';
import {
  compileMatchCondition,
  type NamedExpression,
  PolicyCompiler,
} from '../../../../kinds/groups/extension/admissionregistration/expressions/policy-compiler.ts';
import type { ValidatingAdmissionPolicy } from '../../../../kinds/groups/extension/admissionregistration/policies/validating-admission-policy.ts';
import type { KubeObject } from '../../../../kinds/kind.ts';
import type { MaybeAsync } from '../../../objects/conversion/convert.ts';
import { Activation, type RequestValues } from '../expressions/activation.ts';
import {
  ExpressionFailed,
  evaluate,
  matchesConditions,
  OutOfBudget,
  POLICY_COST_BUDGET,
} from '../expressions/evaluation.ts';

const MAX_MESSAGE_BYTES = 5 * 1024;
/** Cost between checks of the clock: about a millisecond. */
const COST_BETWEEN_CHECKS = 10_000;

export interface PolicyViolation {
  readonly index: number;
  readonly message: string;
  readonly reason?: Reason | undefined;
}

/** The verdict of a rule; undefined when it accepts the request. */
type Verdict = Omit<PolicyViolation, 'index'> | undefined;

type Reason = 'Forbidden' | 'Invalid' | 'RequestEntityTooLarge';

interface PolicyEvaluation {
  readonly decisions: readonly PolicyViolation[];
  /** Annotations that could not be evaluated; they reject the request regardless of the binding's actions. */
  readonly failedAnnotations: readonly PolicyViolation[];
  readonly annotations: readonly (readonly [key: string, value: string])[];
}

interface Rule {
  readonly compiled: Compiled;
  readonly messageExpression: Compiled | undefined;
  readonly message: string;
  readonly reason: Reason | undefined;
}

export type Validation = ReturnType<typeof compileValidation>;

const NOTHING: PolicyEvaluation = { decisions: [], failedAnnotations: [], annotations: [] };

export function compileValidation({ spec }: ValidatingAdmissionPolicy) {
  const { variables = [], validations = [], auditAnnotations = [], matchConditions = [], paramKind } = spec;
  const hasParams = paramKind !== undefined;
  const compiler = new PolicyCompiler({ hasParams, variables });
  const policy: CompiledPolicy = {
    variables: compiler.variables,
    conditions: matchConditions.map(({ expression }) => compileMatchCondition(expression, hasParams)),
    rules: validations.map(({ expression, message = '', messageExpression, reason }) => ({
      compiled: compiler.condition(expression),
      messageExpression: messageExpression ? compiler.message(messageExpression) : undefined,
      message: message.trim() || `failed expression: ${expression.trim()}`,
      reason,
    })),
    annotations: auditAnnotations.map(({ key, valueExpression }) => ({
      key,
      compiled: compiler.annotation(valueExpression.trim()),
    })),
    ignoresFailures: spec.failurePolicy === 'Ignore',
  };
  /** Starts an evaluation for one binding, whose parameters share a budget. */
  return { begin: (turns: TurnBudget) => new Run(policy, turns) };
}

interface CompiledPolicy {
  readonly variables: readonly NamedExpression[];
  readonly conditions: readonly Compiled[];
  readonly rules: readonly Rule[];
  readonly annotations: readonly { readonly key: string; readonly compiled: Compiled }[];
  readonly ignoresFailures: boolean;
}

class Run {
  readonly #validations = new CostBudget(POLICY_COST_BUDGET);
  readonly #annotations = new CostBudget(POLICY_COST_BUDGET);
  #checkedAt = 0;

  constructor(
    private readonly policy: CompiledPolicy,
    private readonly turns: TurnBudget,
  ) {}

  async evaluate(values: RequestValues, param: KubeObject | null): Promise<PolicyEvaluation> {
    const { variables, conditions, rules, annotations } = this.policy;
    const activation = new Activation(values, param, variables);
    try {
      if (conditions.length > 0 && !(await matchesConditions(conditions, activation))) return NOTHING;
      const decisions: PolicyViolation[] = [];
      for (const [index, rule] of rules.entries()) {
        if (this.#hasWorked() && this.turns.isSpent()) await this.turns.nextTurn();
        const found = this.#decide(rule, activation);
        const decision = found instanceof Promise ? await found : found;
        if (decision) decisions.push({ index, ...decision });
      }
      if (annotations.length === 0) return decisions.length === 0 ? NOTHING : { ...NOTHING, decisions };
      return { decisions, ...(await this.#annotate(activation)) };
    } catch (error) {
      if (!(error instanceof ExpressionFailed)) throw error;
      return { ...NOTHING, decisions: this.#failed(0, error) };
    }
  }

  /** Reports whether enough was evaluated that other work may be waiting. Cheap policies need no clock. */
  #hasWorked(): boolean {
    const { used } = this.#validations;
    if (used - this.#checkedAt < COST_BETWEEN_CHECKS) return false;
    this.#checkedAt = used;
    return true;
  }

  /** Evaluates a rule. Returns why it rejects the request; undefined when it does not. Throws OutOfBudget. */
  #decide(rule: Rule, activation: Activation): MaybeAsync<Verdict> {
    let value: MaybeAsync<Value>;
    try {
      value = evaluate(rule.compiled, activation, this.#validations);
    } catch (error) {
      return this.#failedRule(error);
    }
    // Fast path: most rules accept synchronously.
    return value === true ? undefined : this.#judge(rule, activation, value);
  }

  async #judge(rule: Rule, activation: Activation, value: MaybeAsync<Value>): Promise<Verdict> {
    try {
      if ((await value) === true) return undefined;
    } catch (error) {
      return this.#failedRule(error);
    }
    return { message: await this.#message(rule, activation), reason: rule.reason ?? 'Invalid' };
  }

  #failedRule(error: unknown): Verdict {
    if (!(error instanceof ExpressionFailed) || error instanceof OutOfBudget) throw error;
    return this.policy.ignoresFailures ? undefined : { message: error.message };
  }

  async #message({ messageExpression, message }: Rule, activation: Activation): Promise<string> {
    if (!messageExpression) return message;
    try {
      const text = await evaluate(messageExpression, activation, this.#validations);
      return (typeof text === 'string' && usableMessage(text)) || message;
    } catch (error) {
      if (error instanceof OutOfBudget) return `failed messageExpression: ${error.message}`;
      if (error instanceof ExpressionFailed) return message;
      throw error;
    }
  }

  async #annotate(activation: Activation): Promise<Omit<PolicyEvaluation, 'decisions'>> {
    const annotations: [string, string][] = [];
    const failedAnnotations: PolicyViolation[] = [];
    for (const [index, { key, compiled }] of this.policy.annotations.entries()) {
      try {
        const value: Value = await evaluate(compiled, activation, this.#annotations);
        const text = typeof value === 'string' ? value.trim() : '';
        if (text) annotations.push([key, text]);
      } catch (error) {
        if (!(error instanceof ExpressionFailed) || error instanceof OutOfBudget) throw error;
        for (const failed of this.#failed(index, error)) failedAnnotations.push(failed);
      }
    }
    return { annotations, failedAnnotations };
  }

  #failed(index: number, { message }: ExpressionFailed): PolicyViolation[] {
    return this.policy.ignoresFailures ? [] : [{ index, message }];
  }
}

/** Returns a message that is one line of limited length; otherwise undefined. */
function usableMessage(text: string): string | undefined {
  const message = text.trim();
  return Buffer.byteLength(message) > MAX_MESSAGE_BYTES || message.includes('\n') ? undefined : message;
}

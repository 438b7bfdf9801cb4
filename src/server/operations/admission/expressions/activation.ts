import type { DividedWork } from '../../../../base/event-loop/in-turns.ts';
import { continued } from '../../../../base/event-loop/replay.ts';
import type { TurnBudget } from '../../../../base/event-loop/turn-budget.ts';
import type { Variables } from '../../../../cel/evaluate/frame.ts';
import { type CostBudget, CostLimitError, EvaluationError } from '../../../../cel/program.ts';
import { Failure } from '../../../../cel/values/failure.ts';
import { MapValue } from '../../../../cel/values/map.ts';
import type { Value } from '../../../../cel/values/value.ts';
import { Namespace } from '../../../../kinds/groups/core/namespace.ts';
import type { NamedExpression } from '../../../../kinds/groups/extension/admissionregistration/expressions/policy-compiler.ts';
import type { KubeObject } from '../../../../kinds/kind.ts';
import type { Access } from '../../../access/ports.ts';
import type { AdmissionRequest } from '../../../objects/admission/request.ts';
import type { Reader } from '../../../objects/ports.ts';
import { objectNamed } from '../../../objects/reads/lookup.ts';
import { describeRequest } from '../describe-request.ts';
import type { AdmittedForm } from '../form.ts';
import { type AuthorizerVariables, authorizerOf } from './authorizer.ts';

type Ports = Pick<Reader, 'cache' | 'turns'> & Pick<Access, 'authorizer'>;

/** The values available to expressions about one request. Expensive ones are computed on first use. */
export interface RequestContext {
  readonly core: Ports;
  readonly request: AdmissionRequest;
  readonly form: AdmittedForm;
}

/** Values of a request that all expressions about it share. */
export class RequestValues {
  #described: Value | undefined;
  #namespace: Value | undefined;
  #authorizer: AuthorizerVariables | undefined;

  constructor(private readonly context: RequestContext) {}

  get turns(): TurnBudget {
    return this.context.core.turns;
  }

  get object(): Value {
    return (this.context.form.object as unknown as Value | undefined) ?? null;
  }

  get oldObject(): Value {
    return (this.context.form.old as unknown as Value | undefined) ?? null;
  }

  get request(): Value {
    this.#described ??= describeRequest(this.context.request, this.context.form) as unknown as Value;
    return this.#described;
  }

  /** The namespace of the object; null for objects without one, and for namespaces. It stays while paused. */
  get namespaceObject(): Value {
    const { core, request } = this.context;
    if (!request.namespace || request.kind === Namespace) return null;
    this.#namespace ??= objectNamed(core, Namespace, '', request.namespace) as unknown as Value | undefined;
    return this.#namespace ?? null;
  }

  get authorizer(): AuthorizerVariables {
    const { core, request } = this.context;
    this.#authorizer ??= authorizerOf(core.authorizer, request);
    return this.#authorizer;
  }
}

/** The variables of one evaluation. */
export class Activation {
  readonly params: Value;
  readonly variables: Value;
  #budget: CostBudget | undefined;
  /** Variables of the policy whose evaluation has begun. */
  readonly #begun = new Map<NamedExpression, DividedWork<Value>>();

  /** `expressions`: the variables of a policy. */
  constructor(
    private readonly values: RequestValues,
    params: KubeObject | null,
    expressions: readonly NamedExpression[] = [],
  ) {
    this.params = params as unknown as Value;
    this.variables = new LazyVariables(expressions, (each) => this.#evaluate(each));
  }

  get turns(): TurnBudget {
    return this.values.turns;
  }

  get object(): Value {
    return this.values.object;
  }

  get oldObject(): Value {
    return this.values.oldObject;
  }

  get request(): Value {
    return this.values.request;
  }

  get namespaceObject(): Value {
    return this.values.namespaceObject;
  }

  get authorizer(): Value {
    return this.values.authorizer.authorizer;
  }

  get 'authorizer.requestResource'(): Value {
    return this.values.authorizer.requestResource;
  }

  /** Returns the variables for an expression that is evaluated within a budget. */
  during(budget: CostBudget): Variables {
    this.#budget = budget;
    return this as unknown as Variables;
  }

  #evaluate(variable: NamedExpression): Value | Failure {
    const { name, compiled } = variable;
    const { program } = compiled;
    const failed = (why: string) => new Failure(`composited variable ${JSON.stringify(name)} fails to ${why}`);
    if (!program) return failed(`compile: ${compiled.error}`);
    const begun = this.#begun.get(variable);
    const work = begun ?? program.evaluateInTurns(this as unknown as Variables, this.#budget, this.turns);
    if (!begun) this.#begun.set(variable, work);
    try {
      return continued(work);
    } catch (error) {
      const isSpent = error instanceof CostLimitError && error.scope === 'budget';
      if (isSpent || !(error instanceof EvaluationError)) throw error;
      return failed(`evaluate: ${error.message}`);
    }
  }
}

/** The variables of a policy; each is evaluated once, on first use. */
class LazyVariables extends MapValue {
  readonly #evaluate: (expression: NamedExpression) => Value | Failure;
  /** Results, including failures: expressions may absorb a failure and read the variable again. */
  #known: Map<Value, Value | Failure> | undefined;

  constructor(
    private readonly expressions: readonly NamedExpression[],
    evaluateExpression: (expression: NamedExpression) => Value | Failure,
  ) {
    super();
    this.#evaluate = evaluateExpression;
  }

  override get(key: Value): Value | undefined {
    this.#known ??= new Map();
    let value = this.#known.get(key);
    if (value === undefined) {
      const expression = this.expressions.find(({ name }) => name === key);
      if (!expression) return undefined;
      value = this.#evaluate(expression);
      this.#known.set(key, value);
    }
    if (value instanceof Failure) throw value;
    return value;
  }
}

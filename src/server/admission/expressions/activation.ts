import type { Variables } from '../../../cel/evaluate/frame.ts';
import { type CostBudget, CostLimitError, EvaluationError } from '../../../cel/program.ts';
import { Failure } from '../../../cel/values/failure.ts';
import type { Value } from '../../../cel/values/value.ts';
import type { NamedExpression } from '../../../kinds/groups/admissionregistration/expressions/policy-compiler.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import type { Core } from '../../core.ts';
import { describeRequest } from '../describe-request.ts';
import type { AdmittedForm } from '../form.ts';
import { objectNamed } from '../lookup.ts';
import type { AdmissionRequest } from '../request.ts';
import { type AuthorizerVariables, authorizerOf } from './authorizer.ts';

/** What expressions know about one request. Whatever takes time to find is found when it is first read. */
export interface RequestContext {
  readonly core: Core;
  readonly request: AdmissionRequest;
  readonly form: AdmittedForm;
}

/** Values of a request that all expressions about it share. */
export class RequestValues {
  readonly #context: RequestContext;
  #described: Value | undefined;
  #authorizer: AuthorizerVariables | undefined;

  constructor(context: RequestContext) {
    this.#context = context;
  }

  get object(): Value {
    return (this.#context.form.object as unknown as Value | undefined) ?? null;
  }

  get oldObject(): Value {
    return (this.#context.form.old as unknown as Value | undefined) ?? null;
  }

  get request(): Value {
    this.#described ??= describeRequest(this.#context.request, this.#context.form) as unknown as Value;
    return this.#described;
  }

  /** Null for objects without a namespace, also for namespaces themselves. */
  get namespaceObject(): Value {
    const { core, request } = this.#context;
    if (!request.namespace || request.kind === Namespace) return null;
    return (objectNamed(core, Namespace, '', request.namespace) as unknown as Value | undefined) ?? null;
  }

  get authorizer(): AuthorizerVariables {
    const { core, request } = this.#context;
    this.#authorizer ??= authorizerOf(core.authorizer, request);
    return this.#authorizer;
  }
}

/** The variables of a policy, compiled; the getters for all of them are made once for each policy. */
export type ActivationClass = new (values: RequestValues, params: KubeObject | null) => Activation;

/** The variables of one evaluation. */
export class Activation {
  readonly #values: RequestValues;
  readonly params: Value;
  #budget: CostBudget | undefined;

  constructor(values: RequestValues, params: KubeObject | null) {
    this.#values = values;
    this.params = params as unknown as Value;
  }

  get object(): Value {
    return this.#values.object;
  }

  get oldObject(): Value {
    return this.#values.oldObject;
  }

  get request(): Value {
    return this.#values.request;
  }

  get namespaceObject(): Value {
    return this.#values.namespaceObject;
  }

  get authorizer(): Value {
    return this.#values.authorizer.authorizer;
  }

  get 'authorizer.requestResource'(): Value {
    return this.#values.authorizer.requestResource;
  }

  /** The variables for an expression that is evaluated within a budget. */
  during(budget: CostBudget): Variables {
    this.#budget = budget;
    return this as unknown as Variables;
  }

  /** Evaluates a variable of the policy. */
  protected variable({ name, compiled }: NamedExpression): Value | Failure {
    const { program } = compiled;
    const head = `composited variable ${JSON.stringify(name)} fails to`;
    if (!program) return new Failure(`${head} compile: ${compiled.error}`);
    try {
      return program.evaluate(this as unknown as Variables, this.#budget);
    } catch (error) {
      const isSpent = error instanceof CostLimitError && error.scope === 'budget';
      if (isSpent || !(error instanceof EvaluationError)) throw error;
      return new Failure(`${head} evaluate: ${error.message}`);
    }
  }
}

/** An Activation that has the variables of a policy; each is evaluated once, when it is first read. */
export function activationWith(variables: readonly NamedExpression[]): ActivationClass {
  if (variables.length === 0) return Activation;
  class PolicyActivation extends Activation {
    /** Failures are kept as well: expressions may absorb them and read the variable again. */
    readonly #known: (Value | Failure | undefined)[] = [];
    #all: Value | undefined;

    /** All of them, for expressions that ask which there are. */
    get variables(): Value {
      this.#all ??= this.#namespace();
      return this.#all;
    }

    read(index: number): Value {
      let value = this.#known[index];
      if (value === undefined) {
        value = this.variable(variables[index]!);
        this.#known[index] = value;
      }
      if (value instanceof Failure) throw value;
      return value;
    }

    #namespace(): Value {
      const all = Object.create(null);
      variables.forEach(({ name }, index) => {
        Object.defineProperty(all, name, { enumerable: true, get: () => this.read(index) });
      });
      return all;
    }
  }
  variables.forEach(({ name }, index) => {
    Object.defineProperty(PolicyActivation.prototype, `variables.${name}`, {
      get(this: PolicyActivation) {
        return this.read(index);
      },
    });
  });
  return PolicyActivation;
}

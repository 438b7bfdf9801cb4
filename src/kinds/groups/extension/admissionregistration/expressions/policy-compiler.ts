/** Compiles the expressions of one policy, which share its variables. */
import { getOrInsert } from '../../../../../base/collections/get-or-insert.ts';
import type { Environment } from '../../../../../cel/environment.ts';
import { BOOL, DYN, type Field, listType, NULL, objectType, STRING } from '../../../../../cel/types/type.ts';
import { type Compiled, compileExpression } from './compile.ts';
import { admissionEnvironment, type EnvironmentChoice, type TypeChoice } from './environments.ts';
import { JsonPatchType, ObjectType } from './patch-types.ts';

export interface NamedExpression {
  readonly name: string;
  readonly compiled: Compiled;
}

interface PolicyShape extends TypeChoice {
  readonly hasParams: boolean;
  readonly variables: readonly { readonly name: string; readonly expression: string }[];
}

export class PolicyCompiler {
  /** The variables so far: an expression of a variable can use those before it. */
  readonly #types = new Map<string, Field>();
  readonly #all = objectType('kubernetes.variables', (name) => this.#types.get(name));
  readonly #environments = new Map<string, Environment>();
  /** Variables in their order. */
  readonly variables: readonly NamedExpression[];

  constructor(private readonly shape: PolicyShape) {
    this.variables = shape.variables.map(({ name, expression }) => {
      const compiled = compileExpression(this.#environment({ hasAuthorizer: true }), expression);
      // A mistake is reported once, not again wherever the variable is used.
      this.#types.set(name, { type: compiled.program?.resultType ?? DYN });
      return { name, compiled };
    });
  }

  condition(expression: string): Compiled {
    return compileExpression(this.#environment({ hasAuthorizer: true }), expression, [BOOL]);
  }

  message(expression: string): Compiled {
    return compileExpression(this.#environment({ hasAuthorizer: false }), expression, [STRING]);
  }

  annotation(expression: string): Compiled {
    return compileExpression(this.#environment({ hasAuthorizer: true }), expression, [STRING, NULL]);
  }

  /** Compiles an expression with any result. */
  anything(expression: string): Compiled {
    return compileExpression(this.#environment({ hasAuthorizer: true }), expression);
  }

  applyConfiguration(expression: string): Compiled {
    return compileExpression(this.#environment({ hasAuthorizer: true, hasPatches: true }), expression, [ObjectType]);
  }

  jsonPatch(expression: string): Compiled {
    const environment = this.#environment({ hasAuthorizer: true, hasPatches: true });
    return compileExpression(environment, expression, [listType(JsonPatchType)]);
  }

  #environment(choice: Omit<EnvironmentChoice, 'hasParams'>): Environment {
    const key = `${choice.hasAuthorizer}/${choice.hasPatches}`;
    return getOrInsert(this.#environments, key, () => {
      const { hasParams, object, params } = this.shape;
      const base = admissionEnvironment({ ...choice, hasParams }, { object, params });
      return this.shape.variables.length > 0 ? base.extend({ variables: { variables: this.#all } }) : base;
    });
  }
}

/** Compiles a match condition, which knows no variables. */
export function compileMatchCondition(expression: string, hasParams: boolean): Compiled {
  return compileExpression(admissionEnvironment({ hasParams, hasAuthorizer: true }), expression.trim(), [BOOL]);
}

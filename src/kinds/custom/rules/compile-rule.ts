/** Compiles the rules of a schema. */
import type { Environment } from '../../../cel/environment.ts';
import { CompileError, compile, type Program } from '../../../cel/program.ts';
import { BOOL, optionalType, STRING, sameType, type Type } from '../../../cel/types/type.ts';
import { kubernetesEnvironment } from '../../../cel-kubernetes/environment.ts';
import type { ValidationRule } from '../../../json-schema/json-schema.ts';
import type { DeclaredType } from './declared-type.ts';

/** The variables of rules. */
const SELF = 'self';
const OLD_SELF = 'oldSelf';

export interface CompiledRule {
  readonly rule: ValidationRule;
  /** Program of the rule; undefined if it cannot be compiled. */
  readonly program?: Program;
  readonly error?: string;
  readonly message?: Program;
  readonly messageError?: string;
  readonly usesOldSelf: boolean;
}

/** A rule that is compiled when it is first needed: a schema may have hundreds. */
export class LazyRule {
  #compiled: CompiledRule | undefined;

  constructor(
    private readonly rule: ValidationRule,
    private readonly environment: () => Environment,
  ) {}

  get isCompiled(): boolean {
    return this.#compiled !== undefined;
  }

  get compiled(): CompiledRule {
    this.#compiled ??= compileRule(this.rule, this.environment());
    return this.#compiled;
  }
}

/** The rules of one schema. */
export function lazyRules(rules: readonly ValidationRule[], { type }: DeclaredType): LazyRule[] {
  let plain: Environment | undefined;
  let optional: Environment | undefined;
  const environmentFor = ({ optionalOldSelf }: ValidationRule) => {
    if (optionalOldSelf) {
      optional ??= environmentOf(type, optionalType(type));
      return optional;
    }
    plain ??= environmentOf(type, type);
    return plain;
  };
  return rules.map((rule) => new LazyRule(rule, () => environmentFor(rule)));
}

const environmentOf = (self: Type, oldSelf: Type) =>
  kubernetesEnvironment().extend({ variables: { [SELF]: self, [OLD_SELF]: oldSelf } });

function compileRule(rule: ValidationRule, environment: Environment): CompiledRule {
  const { rule: text = '', messageExpression = '' } = rule;
  if (!text.trim()) return { rule, usesOldSelf: false };
  const program = attempt(text, environment, BOOL);
  if (typeof program === 'string') {
    const error = program === WRONG_TYPE ? 'cel expression must evaluate to a bool' : `compilation failed: ${program}`;
    return { rule, error, usesOldSelf: false };
  }
  const compiled = { rule, program, usesOldSelf: program.variables.has(OLD_SELF) };
  if (!messageExpression) return compiled;
  const message = attempt(messageExpression, environment, STRING);
  if (typeof message !== 'string') return { ...compiled, message };
  const messageError =
    message === WRONG_TYPE
      ? 'messageExpression must evaluate to a string'
      : `messageExpression compilation failed: ${message}`;
  return { ...compiled, messageError };
}

const WRONG_TYPE = '';

/** Why an expression cannot be compiled, or `WRONG_TYPE`. */
function attempt(text: string, environment: Environment, type: Type): Program | string {
  try {
    const program = compile(text, environment);
    return sameType(program.resultType, type) ? program : WRONG_TYPE;
  } catch (error) {
    if (error instanceof CompileError) return error.message;
    throw error;
  }
}

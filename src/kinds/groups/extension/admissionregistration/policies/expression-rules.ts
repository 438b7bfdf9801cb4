/** Expressions that do not compile are rejected when a policy or webhook is written. */
import { deepEqual } from '../../../../../base/json/tree.ts';
import { type FieldError, invalid } from '../../../../../schema/field-error.ts';
import type { RuleContext } from '../../../../../schema/schema.ts';
import type { Compiled } from '../expressions/compile.ts';
import { compileMatchCondition, PolicyCompiler } from '../expressions/policy-compiler.ts';

/** Fields that both kinds of policies have. */
interface PolicySpec {
  readonly paramKind?: object;
  readonly variables?: readonly { readonly name: string; readonly expression: string }[];
  readonly matchConditions?: readonly { readonly expression: string }[];
}

/** The errors of the expressions, by the path of their field. */
class Findings {
  readonly found: FieldError[] = [];

  /** Expressions that are missing are reported by the fields themselves. */
  check(field: string, text: string | undefined, compile: (text: string) => Compiled): void {
    if (text !== undefined && text.trim() !== '') this.report(field, text, compile(text));
  }

  report(field: string, text: string, { error }: Compiled): void {
    if (error !== undefined) this.found.push(invalid(field, text, error));
  }
}

function shared(spec: PolicySpec, findings: Findings): PolicyCompiler {
  const { variables = [], matchConditions = [], paramKind } = spec;
  const hasParams = paramKind !== undefined;
  matchConditions.forEach(({ expression }, index) => {
    findings.check(`matchConditions[${index}].expression`, expression, (text) =>
      compileMatchCondition(text, hasParams),
    );
  });
  const named = variables.filter(({ expression }) => expression.trim() !== '');
  const compiler = new PolicyCompiler({ hasParams, variables: named });
  variables.forEach((variable, index) => {
    const at = named.indexOf(variable);
    if (at < 0) return;
    findings.report(`variables[${index}].expression`, variable.expression, compiler.variables[at]!.compiled);
  });
  return compiler;
}

interface ValidatingSpec extends PolicySpec {
  readonly validations?: readonly { readonly expression: string; readonly messageExpression?: string }[];
  readonly auditAnnotations?: readonly { readonly valueExpression: string }[];
}

/** Checks that the expressions of a ValidatingAdmissionPolicy compile. */
export function validationsCompile(spec: ValidatingSpec, context: RuleContext<ValidatingSpec>): FieldError[] {
  if (context.old && deepEqual(context.old, spec)) return [];
  const findings = new Findings();
  const compiler = shared(spec, findings);
  spec.validations?.forEach(({ expression, messageExpression }, index) => {
    const at = `validations[${index}]`;
    findings.check(`${at}.expression`, expression, (text) => compiler.condition(text));
    findings.check(`${at}.messageExpression`, messageExpression, (text) => compiler.message(text));
  });
  spec.auditAnnotations?.forEach(({ valueExpression }, index) => {
    const at = `auditAnnotations[${index}].valueExpression`;
    findings.check(at, valueExpression, (text) => compiler.annotation(text.trim()));
  });
  return findings.found;
}

interface MutatingSpec extends PolicySpec {
  readonly mutations?: readonly {
    readonly patchType: string;
    readonly applyConfiguration?: { readonly expression?: string };
    readonly jsonPatch?: { readonly expression?: string };
  }[];
}

/** Checks that the expressions of a MutatingAdmissionPolicy compile. */
export function mutationsCompile(spec: MutatingSpec, context: RuleContext<MutatingSpec>): FieldError[] {
  if (context.old && deepEqual(context.old, spec)) return [];
  const findings = new Findings();
  const compiler = shared(spec, findings);
  spec.mutations?.forEach(({ patchType, applyConfiguration, jsonPatch }, index) => {
    const at = `mutations[${index}]`;
    if (patchType === 'JSONPatch') {
      const field = `${at}.jsonPatch.expression`;
      findings.check(field, jsonPatch?.expression, (text) => compiler.jsonPatch(text.trim()));
    } else {
      const field = `${at}.applyConfiguration.expression`;
      findings.check(field, applyConfiguration?.expression, (text) => compiler.applyConfiguration(text.trim()));
    }
  });
  return findings.found;
}

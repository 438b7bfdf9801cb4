/** Checks the expressions of a policy against the types of the objects that it applies to. */
import type { Type } from '../../../../../cel/types/type.ts';
import type { Kind, Version } from '../../../../kind.ts';
import { PolicyCompiler } from './policy-compiler.ts';
import { typeOfSchema } from './schema-type.ts';

const MAX_CHECKED_TYPES = 10;

/** Served version of a kind, to check expressions against. */
export interface CheckedType {
  readonly kind: Pick<Kind, 'kind' | 'plural'>;
  readonly version: Pick<Version, 'apiVersion' | 'group' | 'version' | 'schema'>;
}

/** The served kinds. */
export interface TypeSource {
  ofResource(apiVersion: string, plural: string): CheckedType | undefined;
  ofKind(apiVersion: string, kind: string): CheckedType | undefined;
}

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
}

interface CheckedPolicy {
  readonly paramKind?: { readonly apiVersion?: string; readonly kind?: string };
  readonly matchConstraints?: { readonly resourceRules?: readonly Rule[] };
  readonly variables?: readonly { readonly name: string; readonly expression: string }[];
  readonly validations?: readonly { readonly expression: string; readonly messageExpression?: string }[];
}

export interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

/** Yields before each expression, so that long policies can be checked in several turns of the event loop. */
export function* checkTypes(policy: CheckedPolicy, types: TypeSource): Generator<undefined, ExpressionWarning[]> {
  const checks = checkersOf(policy, types);
  const warnings: ExpressionWarning[] = [];
  for (const [index, { expression, messageExpression }] of (policy.validations ?? []).entries()) {
    const at = `spec.validations[${index}]`;
    const fields = { expression, messageExpression };
    for (const [field, text] of Object.entries(fields)) {
      if (!text) continue;
      yield undefined;
      const warning = checks.map((check) => check(text)).join('');
      if (warning) warnings.push({ fieldRef: `${at}.${field}`, warning });
    }
  }
  return warnings;
}

/** Checks an expression for one type; returns the problems, or an empty string. */
type Check = (expression: string) => string;

function checkersOf({ paramKind, matchConstraints, variables = [] }: CheckedPolicy, types: TypeSource): Check[] {
  const params = paramKind && types.ofKind(paramKind.apiVersion ?? '', paramKind.kind ?? '');
  return typesToCheck(matchConstraints?.resourceRules ?? [], types).map((checked) => {
    const compiler = new PolicyCompiler({
      hasParams: paramKind !== undefined,
      variables,
      object: typeOf(checked),
      params: params && typeOf(params),
    });
    const { group, version } = checked.version;
    return (expression) => {
      const { issues } = compiler.anything(expression);
      return issues === undefined ? '' : `${group}/${version}, Kind=${checked.kind.kind}: ${issues}\n`;
    };
  });
}

const typeOf = ({ kind, version }: CheckedType): Type => typeOfSchema(version.schema, kind.kind);

/** Rules with wildcards are left out, and so are subresources. */
function typesToCheck(rules: readonly Rule[], types: TypeSource): CheckedType[] {
  const found = new Map<string, CheckedType>();
  for (const { apiGroups = [], apiVersions = [], resources = [] } of rules) {
    if ([...apiGroups, ...apiVersions].some((word) => word.includes('*'))) continue;
    const plurals = resources.filter((word) => !/[*/]/.test(word)).sort();
    for (const group of [...apiGroups].sort()) {
      for (const version of [...apiVersions].sort()) {
        for (const plural of plurals) {
          const checked = types.ofResource(group ? `${group}/${version}` : version, plural);
          if (!checked || found.size >= MAX_CHECKED_TYPES) continue;
          found.set(`${group}/${version}/${checked.kind.kind}`, checked);
        }
      }
    }
  }
  return [...found.keys()].sort().map((key) => found.get(key)!);
}

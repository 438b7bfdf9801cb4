/** Checks the expressions of a policy against the types of the objects that it applies to. */

import { getOrInsert } from '../../../../../base/collections/get-or-insert.ts';
import {
  BOOL,
  BYTES,
  DOUBLE,
  DYN,
  type Field,
  INT,
  listType,
  mapType,
  objectType,
  STRING,
  TIMESTAMP,
  type Type,
} from '../../../../../cel/types/type.ts';
import type { ObjectSchema, Schema, StringSchema } from '../../../../../schema/schema.ts';
import type { Kind, Version } from '../../../../kind.ts';
import { PolicyCompiler } from './policy-compiler.ts';

/** Fields whose name is a reserved word of CEL may be written as `__namespace__`. */
const unescaped = (field: string) => /^__(\w+)__$/.exec(field)?.[1] ?? field;

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

/** `name` is the name of the type in messages. Types of fields are made when an expression reads them. */
function typeOfSchema(schema: Schema, name: string): Type {
  switch (schema.type) {
    case 'object':
      return typeOfObject(schema, name);
    case 'list':
      return listType(typeOfSchema(schema.items, `${name}.@idx`));
    case 'map':
      return mapType(STRING, typeOfSchema(schema.values, `${name}.@elem`));
    case 'lazy':
      return typeOfSchema(schema.resolve(), name);
    case 'string':
      return typeOfString(schema);
    case 'integer':
      return INT;
    case 'number':
      return DOUBLE;
    case 'boolean':
      return BOOL;
    case 'intOrString':
    case 'any':
      return DYN;
  }
}

function typeOfObject({ fields, preserveUnknown }: ObjectSchema, name: string): Type {
  if (preserveUnknown) return DYN;
  const known = new Map<string, Field>();
  return objectType(name, (field) => {
    const property = Object.hasOwn(fields, field) ? field : unescaped(field);
    const schema = Object.hasOwn(fields, property) ? fields[property] : undefined;
    if (!schema) return undefined;
    return getOrInsert(known, property, () => ({ type: typeOfSchema(schema, `${name}.${property}`), property }));
  });
}

function typeOfString({ format }: StringSchema): Type {
  switch (format) {
    case 'time':
    case 'microTime':
      return TIMESTAMP;
    case 'bytes':
      return BYTES;
    // A quantity may be written as a number.
    case 'quantity':
      return DYN;
    default:
      return STRING;
  }
}

/** Finds errors in the rules of a definition: expressions that do not compile, or may cost too much. */
import type { DividedWork } from '../../../base/event-loop/in-turns.ts';
import type { TurnBudget } from '../../../base/event-loop/turn-budget.ts';
import type { Program } from '../../../cel/program.ts';
import { itemsOf, type JsonSchema, type ValidationRule, valuesOf } from '../../../json-schema/json-schema.ts';
import { propertyPath } from '../../../json-schema/structural-rules.ts';
import { type FieldError, forbidden, invalid, invalidGoValue } from '../../../schema/field-error.ts';
import { type CompiledRule, lazyRules } from './compile-rule.ts';
import { type DeclaredType, declaredType, MAX_REQUEST_BYTES, maxSizeAt } from './declared-type.ts';
import { hasRules } from './has-rules.ts';
import { rulePath } from './rule-path.ts';

/** Maximum cost of one rule on the largest object. */
const MAX_RULE_COST = 10_000_000;
/** Maximum cost of all rules of a version together. */
const MAX_SCHEMA_COST = 100_000_000;
const MAX_COST = 2 ** 64;
/** The rules that are named when the whole costs too much. */
const MAX_NAMED_RULES = 4;

/** Returns how many values of a type fit into a request. */
const maxOccurrences = ({ minBytes }: DeclaredType) => Math.floor(MAX_REQUEST_BYTES / (minBytes + 1));
const times = (cost: number, count: number) => Math.min(cost * count, MAX_COST);

/** Adds up the costs of all rules of a schema. */
class TotalCost {
  #total = 0;
  #expensive: { readonly path: string; readonly cost: number }[] = [];

  add(path: string, cost: number): void {
    this.#total = Math.min(this.#total + cost, MAX_COST);
    if (cost < MAX_SCHEMA_COST / 100) return;
    this.#expensive.push({ path, cost });
    this.#expensive.sort((a, b) => b.cost - a.cost);
    this.#expensive.length = Math.min(this.#expensive.length, MAX_NAMED_RULES);
  }

  /** `path` is that of the schema. */
  errors(path: string): FieldError[] {
    if (this.#total <= MAX_SCHEMA_COST) return [];
    const detail = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    const name = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    return [
      ...this.#expensive.map((each) => forbidden(each.path, detail)),
      forbidden(path, costMessage(name, this.#total, MAX_SCHEMA_COST)),
    ];
  }
}

type Pace = Pick<TurnBudget, 'isSpent'>;

interface Level {
  readonly path: string;
  readonly isRoot?: boolean;
  /** Maximum number of values here; undefined without a limit. */
  readonly occurrences: number | undefined;
  /** The list around it whose items cannot be found again after an update. */
  readonly uncorrelatable?: string | undefined;
}

/** The errors of all rules of a version's schema, which is valid otherwise. Yields when the pace is spent. */
export function* ruleErrors(schema: JsonSchema, path: string, pace: Pace): DividedWork<FieldError[]> {
  const findings = { total: new TotalCost(), found: [], pace };
  yield* visit(schema, { path, isRoot: true, occurrences: 1 }, findings);
  return [...findings.found, ...findings.total.errors(path)];
}

function* visit(schema: JsonSchema, level: Level, findings: Findings): DividedWork<void> {
  if (!hasRules(schema)) return;
  if (findings.pace.isSpent()) yield;
  const { 'x-kubernetes-validations': rules = [], properties = {}, 'x-kubernetes-list-type': listType } = schema;
  const { path } = level;
  const most = maxChildren(schema);
  const occurrences =
    level.occurrences === undefined || most === undefined ? undefined : times(level.occurrences, most);
  const inner = { occurrences, uncorrelatable: level.uncorrelatable };
  const values = valuesOf(schema);
  if (values) yield* visit(values, { ...inner, path: `${path}.additionalProperties` }, findings);
  for (const [name, property] of Object.entries(properties)) {
    yield* visit(property, { ...inner, path: propertyPath(path, name) }, findings);
  }
  const items = itemsOf(schema);
  const uncorrelatable = inner.uncorrelatable ?? (listType === 'map' ? undefined : path);
  if (items) yield* visit(items, { ...inner, uncorrelatable, path: `${path}.items` }, findings);
  if (rules.length > 0) yield* check(schema, rules, level, findings);
}

interface Findings {
  readonly total: TotalCost;
  readonly found: FieldError[];
  readonly pace: Pace;
}

function* check(
  schema: JsonSchema,
  rules: readonly ValidationRule[],
  level: Level,
  findings: Findings,
): DividedWork<void> {
  const { found, pace } = findings;
  const at = `${level.path}.x-kubernetes-validations`;
  const declared = declaredType(schema, level.isRoot);
  rules.forEach(({ fieldPath }, i) => {
    if (!fieldPath || rulePath(schema, fieldPath) !== undefined) return;
    found.push(invalid(`${at}[${i}].fieldPath`, fieldPath, 'must be a valid path'));
  });
  if (!declared) {
    const why =
      'internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations';
    found.push({ reason: 'InternalError', field: at, message: `Internal error: ${why}` });
    return;
  }
  for (const [i, rule] of lazyRules(rules, declared).entries()) {
    if (pace.isSpent()) yield;
    compiledErrors(rule.compiled, { declared, level, path: `${at}[${i}]` }, findings);
  }
}

interface RuleContext {
  readonly declared: DeclaredType;
  readonly level: Level;
  readonly path: string;
}

function compiledErrors(compiled: CompiledRule, context: RuleContext, { total, found }: Findings): void {
  const { rule, program, error, message, messageError, usesOldSelf } = compiled;
  const { declared, level, path } = context;
  const observe = (field: string, name: string, cost: number) => {
    if (cost > MAX_RULE_COST) found.push(forbidden(`${path}.${field}`, costMessage(name, cost, MAX_RULE_COST)));
    total.add(`${path}.${field}`, cost);
  };
  if (program) {
    const count = level.occurrences ?? maxOccurrences(declared);
    observe('rule', 'estimated rule cost', times(maxCost(program, declared), count));
  }
  if (error !== undefined) found.push(invalidGoValue(`${path}.rule`, goText(rule), error));
  if (messageError !== undefined) found.push(invalidGoValue(`${path}.messageExpression`, goText(rule), messageError));
  else if (message) observe('messageExpression', 'estimated messageExpression cost', maxCost(message, declared));
  if (usesOldSelf && level.uncorrelatable !== undefined) {
    const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${level.uncorrelatable}`;
    found.push(invalid(`${path}.rule`, rule.rule ?? '', detail));
  } else if (!usesOldSelf && rule.optionalOldSelf !== undefined && rule.rule?.trim()) {
    const detail = 'may not be set if oldSelf is not used in rule';
    found.push(invalid(`${path}.optionalOldSelf`, rule.optionalOldSelf, detail));
  }
}

/** A rule as Go writes it. */
function goText({
  rule = '',
  message = '',
  messageExpression = '',
  reason,
  fieldPath = '',
  optionalOldSelf,
}: ValidationRule) {
  const text = (value: string) => JSON.stringify(value);
  const pointer = (type: string, value: unknown) => `(*${type})(${value === undefined ? 'nil' : '0x0'})`;
  return `apiextensions.ValidationRule{Rule:${text(rule)}, Message:${text(message)}, MessageExpression:${text(messageExpression)}, Reason:${pointer('apiextensions.FieldValueErrorReason', reason)}, FieldPath:${text(fieldPath)}, OptionalOldSelf:${pointer('bool', optionalOldSelf)}}`;
}

/** The most that one evaluation can cost. */
function maxCost(program: Program, declared: DeclaredType): number {
  return program.estimateCost(({ path }) => {
    const most = path?.length ? maxSizeAt(declared, path) : undefined;
    return most === undefined ? undefined : { min: 0, max: most };
  }).max;
}

/** Returns how many children one value of a schema can have; undefined without a limit. */
function maxChildren({ type, additionalProperties, maxProperties, maxItems }: JsonSchema): number | undefined {
  const limit = (value: number | undefined) => (value === undefined ? undefined : Math.max(0, value));
  if (type === 'object' && additionalProperties !== undefined) return limit(maxProperties);
  return type === 'array' ? limit(maxItems) : 1;
}

function costMessage(name: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${name} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}

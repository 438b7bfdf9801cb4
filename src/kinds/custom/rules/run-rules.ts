/** Runs the rules of a schema on an object. */
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import type { DividedWork, Pace } from '../../../base/event-loop/in-turns.ts';
import { isTree, type Tree } from '../../../base/json/tree.ts';
import { CostBudget, CostLimitError, EvaluationError, type Program } from '../../../cel/program.ts';
import { Optional, type Value } from '../../../cel/values/value.ts';
import {
  itemsOf,
  type JsonSchema,
  propertyOf,
  type ValidationRule,
  valuesOf,
} from '../../../json-schema/json-schema.ts';
import { keysText, sameValue } from '../../../json-schema/same-value.ts';
import { duplicate, type FieldError, forbidden, invalid, omitted, required } from '../../../schema/field-error.ts';
import { type LazyRule, lazyRules } from './compile-rule.ts';
import { declaredType } from './declared-type.ts';
import { hasRules } from './has-rules.ts';
import { rulePath } from './rule-path.ts';

interface Found {
  readonly field: string;
  readonly value: unknown;
  readonly detail: string;
}

const failure = { pathOf, errorOf };

/** Maximum cost of all rules of an object together. */
const MAX_OBJECT_COST = 10_000_000;
const OUT_OF_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run';
const MAX_MESSAGE_BYTES = 5 * 1024;

/** Units between two looks at the clock, where rules are cheap: about a millisecond. */
const COST_BETWEEN_CHECKS = 10_000;

/** Returns the violations of the rules in a kind's schema by an object. Yields when the pace is spent. */
export function* runRules(schema: JsonSchema, object: unknown, old: unknown, pace: Pace): DividedWork<FieldError[]> {
  const run = new Run(pace);
  const place = { value: object, old, path: '', isUnchanged: unchanged(schema, object, old), isRoot: true };
  for (const check of checksOf(schema, place)) {
    if ((run.hasWorked() || !check.rule.isCompiled) && pace.isSpent()) yield;
    yield* run.check(check);
    if (run.isStopped) break;
  }
  return run.errors;
}

/** A rule, and the value that it is about. */
interface Check {
  readonly rule: LazyRule;
  readonly schema: JsonSchema;
  readonly place: Place;
}

interface Place {
  readonly value: unknown;
  /** Value before the update; undefined if there is none, or it cannot be found. */
  readonly old: unknown;
  readonly path: string;
  /** Reports whether the update left the value, or the nearest value around it that can be found, unchanged. */
  readonly isUnchanged: () => boolean;
  readonly isRoot?: boolean;
}

function unchanged(schema: JsonSchema, value: unknown, old: unknown): () => boolean {
  if (old === undefined) return () => false;
  let known: boolean | undefined;
  return () => {
    known ??= sameValue(schema, value, old);
    return known;
  };
}

const known = new WeakMap<JsonSchema, readonly LazyRule[]>();

function rulesOf(schema: JsonSchema, isRoot: boolean): readonly LazyRule[] {
  return getOrInsert(known, schema, () => {
    const { 'x-kubernetes-validations': written = [] } = schema;
    const declared = written.length > 0 ? declaredType(schema, isRoot || undefined) : undefined;
    return declared ? lazyRules(written, declared) : [];
  });
}

/** The rules that concern a value and what it contains, in order. */
function* checksOf(schema: JsonSchema, place: Place): Generator<Check> {
  if (place.value === null || place.value === undefined || !hasRules(schema)) return;
  for (const rule of rulesOf(schema, place.isRoot === true)) yield { rule, schema, place };
  if (Array.isArray(place.value)) yield* checksOfItems(schema, place.value, place);
  else if (isTree(place.value)) yield* checksOfFields(schema, place.value, place);
}

function* checksOfItems(schema: JsonSchema, list: readonly unknown[], place: Place): Generator<Check> {
  const items = itemsOf(schema);
  if (!items || !hasRules(items)) return;
  const { old, path, isUnchanged } = place;
  const { 'x-kubernetes-list-type': type, 'x-kubernetes-list-map-keys': keys = [] } = schema;
  const before = type === 'map' && Array.isArray(old) ? byKeys(old, keys) : undefined;
  for (const [index, value] of list.entries()) {
    const was = isTree(value) ? before?.get(keysText(value, keys)) : undefined;
    const same = was === undefined ? isUnchanged : unchanged(items, value, was);
    yield* checksOf(items, { value, old: was, path: `${path}[${index}]`, isUnchanged: same });
  }
}

function* checksOfFields(schema: JsonSchema, tree: Tree, { old, path, isUnchanged }: Place): Generator<Check> {
  const values = valuesOf(schema);
  const before = isTree(old) ? old : undefined;
  for (const [key, value] of Object.entries(tree)) {
    const inner = propertyOf(schema, key);
    const next = inner ?? values;
    if (!next || !hasRules(next)) continue;
    const was = before && Object.hasOwn(before, key) ? before[key] : undefined;
    const same = was === undefined ? isUnchanged : unchanged(next, value, was);
    const at = inner ? (path ? `${path}.${key}` : key) : `${path}[${key}]`;
    yield* checksOf(next, { value, old: was, path: at, isUnchanged: same });
  }
}

class Run {
  readonly errors: FieldError[] = [];
  /** True when no further rule is to be checked. */
  isStopped = false;
  readonly #budget = new CostBudget(MAX_OBJECT_COST);
  #checkedAt = 0;

  constructor(private readonly pace: Pace) {}

  /** Reports whether the work since the last call is enough to make others wait. */
  hasWorked(): boolean {
    const { used } = this.#budget;
    if (used - this.#checkedAt < COST_BETWEEN_CHECKS) return false;
    this.#checkedAt = used;
    return true;
  }

  *check(check: Check): DividedWork<void> {
    const { schema, place } = check;
    const { compiled } = check.rule;
    const { rule, program, error, usesOldSelf } = compiled;
    const field = place.path || '<nil>';
    const wrong = (detail: string) => void this.errors.push(invalid(field, schema.type ?? '', detail));
    if (error !== undefined) wrong(`rule compile error: ${error}`);
    if (!program) return;
    const isOptional = rule.optionalOldSelf === true;
    const old = place.old === null ? undefined : place.old;
    if (usesOldSelf && old === undefined && !isOptional) return;
    if (this.#budget.used >= this.#budget.limit) return this.#stop(field, schema, OUT_OF_BUDGET);
    const self = place.value as Value;
    const variables = {
      self,
      ...(usesOldSelf || compiled.message ? { oldSelf: oldSelf(old as Value, isOptional) } : {}),
    };
    try {
      if ((yield* this.#evaluate(program, variables)) === true) return;
    } catch (failed) {
      if (!(failed instanceof EvaluationError)) throw failed;
      if (failed instanceof CostLimitError) {
        const callLimit = `'${failed.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${shown(rule)}`;
        return this.#stop(field, schema, failed.scope === 'budget' ? OUT_OF_BUDGET : callLimit);
      }
      const text = failed.message.startsWith('no such overload')
        ? `'${failed.message}': call arguments did not match a supported operator, function or macro signature for rule: ${shown(rule)}`
        : `${failed.message} evaluating rule: ${shown(rule)}`;
      wrong(text);
      return;
    }
    yield* this.#report(check, variables);
  }

  *#report(check: Check, variables: Readonly<Record<string, Value>>): DividedWork<void> {
    const { schema, place } = check;
    const { rule, message, usesOldSelf } = check.rule.compiled;
    // Values that an update leaves unchanged may fail.
    if (!usesOldSelf && place.isUnchanged()) return;
    const at = failure.pathOf(schema, rule, place.path);
    const made = message && (yield* this.#message(message, variables, (detail) => this.#stop(at, schema, detail)));
    if (this.isStopped) return;
    const detail = made ?? (rule.message ? rule.message.trim() : `failed rule: ${shown(rule)}`);
    this.errors.push(failure.errorOf(schema, rule, { field: at, value: place.value, detail }));
  }

  /** Returns the message of the expression; undefined if it cannot be shown. */
  *#message(
    program: Program,
    variables: Readonly<Record<string, Value>>,
    stop: (detail: string) => void,
  ): DividedWork<string | undefined> {
    try {
      const value = yield* this.#evaluate(program, variables);
      const text = typeof value === 'string' ? value.trim() : '';
      return text === '' || text.includes('\n') || Buffer.byteLength(text) > MAX_MESSAGE_BYTES ? undefined : text;
    } catch (failed) {
      if (!(failed instanceof EvaluationError)) throw failed;
      if (failed instanceof CostLimitError) {
        stop(
          failed.scope === 'budget'
            ? 'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run'
            : `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${JSON.stringify(program.source)}`,
        );
      }
      return undefined;
    }
  }

  #evaluate(program: Program, variables: Readonly<Record<string, Value>>): DividedWork<Value> {
    return program.evaluateInTurns(variables, this.#budget, this.pace);
  }

  #stop(field: string, schema: JsonSchema, detail: string): void {
    this.errors.push(invalid(field, schema.type ?? '', detail));
    this.isStopped = true;
  }
}

function oldSelf(old: Value | undefined, isOptional: boolean): Value {
  if (!isOptional) return old ?? null;
  return old === undefined ? Optional.NONE : new Optional(old);
}

/** A rule as messages name it. */
const shown = ({ rule = '', message = '' }: ValidationRule) => (message || rule).trim();

function byKeys(items: readonly unknown[], keys: readonly string[]): Map<string, Tree> {
  return new Map(items.filter(isTree).map((item) => [keysText(item, keys), item]));
}

/** The field that a failure is reported for. `path` is where the rule stands. */
function pathOf(schema: JsonSchema, { fieldPath }: ValidationRule, path: string): string {
  const below = fieldPath ? rulePath(schema, fieldPath) : undefined;
  if (below) return path ? `${path}.${below}` : below;
  return path || '<nil>';
}

/** Objects and lists are not shown. */
function errorOf({ type }: JsonSchema, { reason }: ValidationRule, { field, value, detail }: Found): FieldError {
  const isLarge = type === 'object' || type === 'array';
  switch (reason) {
    case 'FieldValueForbidden':
      return forbidden(field, detail);
    case 'FieldValueRequired':
      return required(field, detail);
    case 'FieldValueDuplicate':
      return isLarge ? { ...omitted(field, ''), reason, message: 'Duplicate value' } : duplicate(field, value);
    default:
      return isLarge ? omitted(field, detail) : invalid(field, value, detail);
  }
}

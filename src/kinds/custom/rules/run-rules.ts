/** Runs the rules of a schema on an object. */
import { deepEqual, isTree, type Tree } from '../../../base/json/tree.ts';
import { CostBudget, CostLimitError, EvaluationError, type Program } from '../../../cel/program.ts';
import { Optional, type Value } from '../../../cel/values/value.ts';
import {
  itemsOf,
  type JsonSchema,
  propertyOf,
  type ValidationRule,
  valuesOf,
} from '../../../json-schema/json-schema.ts';
import { type FieldError, invalid } from '../../../schema/field-error.ts';
import { type CompiledRule, compileRules } from './compile-rule.ts';
import { declaredType } from './declared-type.ts';
import { hasRules } from './has-rules.ts';
import { keysText } from './list-types.ts';
import { failure } from './rule-failure.ts';

/** What all rules of an object may cost together. */
const MAX_OBJECT_COST = 10_000_000;
const MAX_MESSAGE_BYTES = 5 * 1024;

/** Everything that the rules of a kind's schema say against an object. */
export function runRules(schema: JsonSchema, object: unknown, old: unknown): FieldError[] {
  const run = new Run();
  try {
    run.visit(schema, { value: object, old, path: '', isUnchanged: unchanged(object, old), isRoot: true });
  } catch (stop) {
    if (!(stop instanceof Stop)) throw stop;
  }
  return run.errors;
}

/** Ends a run whose budget is used up. */
class Stop {}

interface Place {
  readonly value: unknown;
  /** The value before the update; undefined where there is none, or it cannot be found. */
  readonly old: unknown;
  readonly path: string;
  /** Whether the update left the value, or the nearest value around it that can be found, as it was. */
  readonly isUnchanged: () => boolean;
  readonly isRoot?: boolean;
}

function unchanged(value: unknown, old: unknown): () => boolean {
  if (old === undefined) return () => false;
  let known: boolean | undefined;
  return () => {
    known ??= deepEqual(value, old);
    return known;
  };
}

const compiled = new WeakMap<JsonSchema, readonly CompiledRule[]>();

function rulesOf(schema: JsonSchema, isRoot: boolean): readonly CompiledRule[] {
  let rules = compiled.get(schema);
  if (!rules) {
    const { 'x-kubernetes-validations': written = [] } = schema;
    const declared = written.length > 0 ? declaredType(schema, isRoot || undefined) : undefined;
    rules = declared ? compileRules(written, declared) : [];
    compiled.set(schema, rules);
  }
  return rules;
}

class Run {
  readonly errors: FieldError[] = [];
  readonly #budget = new CostBudget(MAX_OBJECT_COST);

  visit(schema: JsonSchema, place: Place): void {
    if (place.value === null || place.value === undefined || !hasRules(schema)) return;
    for (const rule of rulesOf(schema, place.isRoot === true)) this.#check(rule, schema, place);
    if (Array.isArray(place.value)) this.#items(schema, place.value, place);
    else if (isTree(place.value)) this.#fields(schema, place.value, place);
  }

  #items(schema: JsonSchema, list: readonly unknown[], { old, path, isUnchanged }: Place): void {
    const items = itemsOf(schema);
    if (!items || !hasRules(items)) return;
    const { 'x-kubernetes-list-type': type, 'x-kubernetes-list-map-keys': keys = [] } = schema;
    const before = type === 'map' && Array.isArray(old) ? byKeys(old, keys) : undefined;
    list.forEach((value, index) => {
      const was = isTree(value) ? before?.get(keysText(value, keys)) : undefined;
      const same = was === undefined ? isUnchanged : unchanged(value, was);
      this.visit(items, { value, old: was, path: `${path}[${index}]`, isUnchanged: same });
    });
  }

  #fields(schema: JsonSchema, tree: Tree, { old, path, isUnchanged }: Place): void {
    const values = valuesOf(schema);
    const before = isTree(old) ? old : undefined;
    for (const [key, value] of Object.entries(tree)) {
      const inner = propertyOf(schema, key);
      const next = inner ?? values;
      if (!next || !hasRules(next)) continue;
      const was = before && Object.hasOwn(before, key) ? before[key] : undefined;
      const same = was === undefined ? isUnchanged : unchanged(value, was);
      const at = inner ? (path ? `${path}.${key}` : key) : `${path}[${key}]`;
      this.visit(next, { value, old: was, path: at, isUnchanged: same });
    }
  }

  #check(compiled: CompiledRule, schema: JsonSchema, place: Place): void {
    const { rule, program, error, usesOldSelf } = compiled;
    const field = place.path || '<nil>';
    const wrong = (detail: string) => void this.errors.push(invalid(field, schema.type ?? '', detail));
    if (error !== undefined) wrong(`rule compile error: ${error}`);
    if (!program) return;
    const isOptional = rule.optionalOldSelf === true;
    const old = place.old === null ? undefined : place.old;
    if (usesOldSelf && old === undefined && !isOptional) return;
    if (this.#budget.used >= this.#budget.limit) this.#exhausted(field, schema);
    const self = place.value as Value;
    const variables = {
      self,
      ...(usesOldSelf || compiled.message ? { oldSelf: oldSelf(old as Value, isOptional) } : {}),
    };
    try {
      if (program.evaluate(variables, this.#budget) === true) return;
    } catch (failed) {
      if (!(failed instanceof EvaluationError)) throw failed;
      if (failed instanceof CostLimitError) {
        if (failed.scope === 'budget') this.#exhausted(field, schema);
        wrong(
          `'${failed.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${shown(rule)}`,
        );
        throw new Stop();
      }
      const text = failed.message.startsWith('no such overload')
        ? `'${failed.message}': call arguments did not match a supported operator, function or macro signature for rule: ${shown(rule)}`
        : `${failed.message} evaluating rule: ${shown(rule)}`;
      wrong(text);
      return;
    }
    this.#report(compiled, schema, place, variables);
  }

  #report(compiled: CompiledRule, schema: JsonSchema, place: Place, variables: Readonly<Record<string, Value>>): void {
    const { rule, message, usesOldSelf } = compiled;
    // What an update leaves as it was may fail.
    if (!usesOldSelf && place.isUnchanged()) return;
    const at = failure.pathOf(schema, rule, place.path);
    const stop = (detail: string) => {
      this.errors.push(invalid(at, schema.type ?? '', detail));
      throw new Stop();
    };
    const made = message && this.#message(message, variables, stop);
    const detail = made ?? (rule.message ? rule.message.trim() : `failed rule: ${shown(rule)}`);
    this.errors.push(failure.errorOf(schema, rule, { field: at, value: place.value, detail }));
  }

  /** Undefined where the expression makes no message that can be shown. */
  #message(
    program: Program,
    variables: Readonly<Record<string, Value>>,
    stop: (detail: string) => void,
  ): string | undefined {
    try {
      const value = program.evaluate(variables, this.#budget);
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

  #exhausted(field: string, schema: JsonSchema): never {
    const detail = 'validation failed due to running out of cost budget, no further validation rules will be run';
    this.errors.push(invalid(field, schema.type ?? '', detail));
    throw new Stop();
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

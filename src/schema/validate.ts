/**
 * Validates decoded objects by the checks in their schema. The code for a schema is generated when it is first used; parts
 * without checks are not walked. Paths are built only for errors.
 */
import { memoized } from '../base/collections/memoized.ts';
import type { DividedWork, Pace } from '../base/event-loop/in-turns.ts';
import { deepEqual, type Tree } from '../base/json/tree.ts';
import { Code, quote, read } from './code.ts';
import { type FieldError, invalid, joinPath, notSupported, required } from './field-error.ts';
import type { IntegerSchema, ListSchema, MapSchema, ObjectSchema, Rule, RuleContext, Schema } from './schema.ts';

export type ValidationContext = Pick<RuleContext, 'operation' | 'old' | 'subresource'> &
  Partial<Pick<RuleContext, 'apiVersion'>> & {
    /** A part of the value that is known to be valid. */
    readonly checked?: object | undefined;
  };

/** Number of errors after which the rest of a list is not checked. */
const MAX_ERRORS = 1000;

/** Maximum number of list items and map entries of a value that is validated in one turn. */
const MAX_ITEMS_AT_ONCE = 500;

/** Returns all errors, in the order of the schema. */
export function validate(schema: Schema, value: unknown, context: ValidationContext): FieldError[] {
  const run = runOf(value, context, UNPACED, Number.POSITIVE_INFINITY);
  checkerOf(schema)?.check(value, context.old, run, undefined);
  return run.found;
}

/** Works like `validate`, as work that yields when the pace is spent if the value is large. */
export function validateInTurns(
  schema: Schema,
  value: unknown,
  context: ValidationContext,
  pace: Pace,
): FieldError[] | DividedWork<FieldError[]> {
  const run = runOf(value, context, pace, MAX_ITEMS_AT_ONCE);
  try {
    checkerOf(schema)?.check(value, context.old, run, undefined);
    return run.found;
  } catch (error) {
    if (!(error instanceof TooManyItems)) throw error;
    return walk(schema, value, context, pace);
  }
}

function* walk(schema: Schema, value: unknown, context: ValidationContext, pace: Pace): DividedWork<FieldError[]> {
  const run = runOf(value, context, pace, Number.POSITIVE_INFINITY);
  const checker = checkerOf(schema);
  if (checker) yield* checker.walk(value, context.old, run, undefined);
  return run.found;
}

/** Ends a validation that is to be done in turns instead. */
class TooManyItems {}

function rejectMany(): never {
  throw new TooManyItems();
}

/** State of the whole validation, and the errors found so far. */
interface Run extends Pick<RuleContext, 'operation' | 'subresource' | 'root' | 'oldRoot' | 'apiVersion'> {
  readonly checked: object;
  readonly found: FieldError[];
  readonly pace: Pace;
  /** Number of list items and map entries that may still be validated at once. */
  itemsLeft: number;
}

function runOf(value: unknown, context: ValidationContext, pace: Pace, itemsLeft: number): Run {
  const { operation, subresource, apiVersion, old, checked = NOTHING } = context;
  return { operation, subresource, apiVersion, root: value, oldRoot: old, checked, found: [], pace, itemsLeft };
}

const NOTHING = {};
const UNPACED: Pace = { isSpent: () => false };

/** Adds the errors of a present value to `run.found`, with paths relative to the value. `parent` holds the value. */
type Check = (value: unknown, old: unknown, run: Run, parent: unknown) => void;
/** Works like a Check, in turns. */
type Walk = (value: unknown, old: unknown, run: Run, parent: unknown) => DividedWork<void>;

/** Holds the generated functions of a schema, each of which is generated when it is first called. */
interface Checker {
  check: Check;
  walk: Walk;
}

/** Returns the checker; undefined for a schema without checks. */
const checkerOf = memoized((schema: Schema): Checker | undefined => (hasChecks(schema) ? deferred(schema) : undefined));

function deferred(schema: Schema): Checker {
  const checker: Checker = {
    check(value, old, run, parent) {
      checker.check = checkOf(schema, 'check');
      checker.check(value, old, run, parent);
    },
    walk(value, old, run, parent) {
      checker.walk = checkOf(schema, 'walk');
      return checker.walk(value, old, run, parent);
    },
  };
  return checker;
}

function hasChecks(schema: Schema): boolean {
  if (schema.rules?.length || limitsOf(schema)) return true;
  switch (schema.type) {
    case 'object':
      return Object.values(schema.fields).some((field) => field.required || field.immutable || checkerOf(field));
    case 'list':
      return checkerOf(schema.items) !== undefined;
    case 'map':
      return checkerOf(schema.values) !== undefined;
    case 'lazy':
      return true;
    default:
      return false;
  }
}

function checkOf<M extends Mode>(schema: Schema, mode: M): Checker[M] {
  const code = new CheckCode(mode);
  code.add('const found = run.found; let v, o, n, wrong, context;');
  if (schema.type === 'object') code.add(...fieldsCode(code, schema), rulesCode(code, schema.rules, WHOLE));
  else if (schema.type === 'list') code.add(...itemsCode(code, schema), rulesCode(code, schema.rules, WHOLE));
  else if (schema.type === 'map') code.add(...valuesCode(code, schema), rulesCode(code, schema.rules, WHOLE));
  else if (schema.type === 'lazy') code.add(lazyCode(code, schema.resolve), rulesCode(code, schema.rules, WHOLE));
  else code.add(scalarCode(code, schema, WHOLE));
  return code.compile('value, old, run, parent', mode === 'walk' ? 'generator' : 'function');
}

type Mode = keyof Checker;

/** Generated code that validates at once, or in turns. */
class CheckCode extends Code {
  constructor(readonly mode: Mode) {
    super();
  }

  /** Validates a value that has parts. */
  call(checker: Checker, { value, old, parent }: Names): string {
    const parameters = `(${value}, ${old}, run, ${parent});`;
    const name = this.constant(checker);
    return this.mode === 'walk' ? `yield* ${name}.walk${parameters}` : `${name}.check${parameters}`;
  }

  /** Code that lets other work run. */
  get pause(): string {
    return this.mode === 'walk' ? 'if (run.pace.isSpent()) yield;' : '';
  }

  /** Generates the check before so many items or entries. */
  count(items: string): string {
    return this.mode === 'walk' ? '' : `if ((run.itemsLeft -= ${items}) < 0) ${this.constant(rejectMany)}();`;
  }
}

/** The variables of the generated code for a value, its old value and the object that holds it. */
interface Names {
  readonly value: string;
  readonly old: string;
  readonly parent: string;
}

const WHOLE: Names = { value: 'value', old: 'old', parent: 'parent' };
const FIELD: Names = { value: 'v', old: 'o', parent: 'value' };
/** The parent of an item or map value is the object that holds the list or map. */
const ITEM: Names = { value: 'v', old: 'o', parent: 'parent' };

/** Limits first; rules do not run on a value outside its limits. */
function scalarCode(code: CheckCode, schema: Schema, names: Names): string {
  const limits = limitsOf(schema);
  const rules = rulesCode(code, schema.rules, names);
  if (!limits) return rules;
  return `wrong = ${code.constant(limits)}(${names.value}); if (wrong !== undefined) found.push(wrong); else { ${rules} }`;
}

function limitsOf(schema: Schema): Limit | undefined {
  if (schema.type === 'string' && schema.enum) {
    const words = schema.enum;
    return (value: string) => (words.includes(value) ? undefined : notSupported('', value, words));
  }
  if (schema.type === 'integer' && (schema.min !== undefined || schema.max !== undefined)) return rangeOf(schema);
  return undefined;
}

/** Declared as a method: the generated code only ever passes values of the schema's type. */
type Limit = { limit(value: unknown): FieldError | undefined }['limit'];

function rangeOf({ min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }: IntegerSchema) {
  const words =
    max === Number.POSITIVE_INFINITY
      ? `must be greater than or equal to ${min}`
      : min === Number.NEGATIVE_INFINITY
        ? `must be less than or equal to ${max}`
        : `must be between ${min} and ${max}, inclusive`;
  return (value: number) => (value < min || value > max ? invalid('', value, words) : undefined);
}

/** A context is created only for rules that declare a second parameter. */
function rulesCode(code: CheckCode, rules: readonly Rule[] = [], { value, old, parent }: Names): string {
  if (rules.length === 0) return '';
  const needsContext = rules.some((rule) => rule.length > 1);
  const context = needsContext ? `context = ${code.constant(contextOf)}(run, ${old}, ${parent});` : '';
  const calls = rules.map((rule) => {
    const call = `${code.constant(rule)}(${value}${rule.length > 1 ? ', context' : ''})`;
    return `wrong = ${call}; if (wrong !== undefined) ${code.constant(addErrors)}(found, wrong);`;
  });
  return `${context} ${calls.join(value === 'value' ? ` ${code.pause} ` : ' ')}`;
}

function contextOf(
  { operation, root, oldRoot, subresource, apiVersion }: Run,
  old: unknown,
  parent: unknown,
): RuleContext {
  return { operation, old, parent, root, oldRoot, subresource, apiVersion };
}

function addErrors(found: FieldError[], wrong: FieldError | readonly FieldError[]): void {
  if ('reason' in wrong) found.push(wrong);
  else for (let i = 0; i < wrong.length && found.length < MAX_ERRORS; i++) found.push(wrong[i]!);
}

function fieldsCode(code: CheckCode, { fields }: ObjectSchema): string[] {
  return Object.entries(fields).map(([field, schema]) => fieldCode(code, field, schema));
}

/** Checks a field of an object, which may be absent. The empty string counts as absent. */
function fieldCode(code: CheckCode, field: string, schema: Schema): string {
  const { required: must, immutable } = schema;
  const inside = insideCode(code, field, schema);
  if (!inside && !must && !immutable) return '';
  const reading = `v = ${read('value', field)}; o = old === undefined || old === null ? undefined : ${read('old', field)};`;
  const isAbsent = schema.keepEmpty ? 'v === undefined' : "v === undefined || v === ''";
  const missing = code.constant(required(field, must === true ? '' : must || ''));
  const isEmpty = rejectsEmpty(schema) ? ` || !${code.constant(hasEntries)}(v)` : '';
  const change = immutable ? changeCode(code, field, schema) : '';
  const checks = inside && `if (!(${isAbsent}${schema.nullable ? ' || v === null' : ''})) { ${inside} }`;
  const whole = must
    ? `if (${isAbsent}${isEmpty}) { found.push(${missing}); ${change} } else { ${change} ${checks} }`
    : `${change} ${checks}`;
  // An identical value was validated when it was written.
  return `${reading} if ((v !== o && v !== run.checked) || typeof v !== 'object') { ${whole} }`;
}

/** Reports whether an empty list or map does not satisfy `required`. */
function rejectsEmpty({ type, keepEmpty }: Schema): boolean {
  return !keepEmpty && (type === 'list' || type === 'map');
}

function changeCode(code: CheckCode, field: string, schema: Schema): string {
  const absent = schema.type === 'string' ? '' : null;
  const wrong = (value: unknown) => invalid(field, value ?? absent, 'field is immutable');
  const differs = `old !== undefined && old !== null && !${code.constant(deepEqual)}(v, o)`;
  return `if (${differs}) found.push(${code.constant(wrong)}(v));`;
}

/** Checks the value of a present field, and puts the field in front of the paths of its errors. */
function insideCode(code: CheckCode, field: string, schema: Schema): string {
  const checks = valueCode(code, schema, FIELD);
  if (!checks) return '';
  return `n = found.length; ${checks} if (found.length > n) ${code.constant(prefix)}(found, n, ${quote(field)});`;
}

function valueCode(code: CheckCode, schema: Schema, names: Names): string {
  const checker = checkerOf(schema);
  if (!checker) return '';
  switch (schema.type) {
    case 'object':
    case 'list':
    case 'map':
    case 'lazy':
      return code.call(checker, names);
    default:
      return scalarCode(code, schema, names);
  }
}

/** Puts a step in front of the paths of the errors from index `since` on. */
function prefix(found: FieldError[], since: number, step: string): void {
  for (let i = since; i < found.length; i++) {
    const each = found[i]!;
    found[i] = { ...each, field: joinPath(step, each.field) };
  }
}

function prefixItem(found: FieldError[], since: number, key: string | number): void {
  prefix(found, since, `[${key}]`);
}

/** A null occurs only in nullable fields, where it is a value. */
function hasEntries(value: object | null): boolean {
  if (value === null) return true;
  if (Array.isArray(value)) return value.length > 0;
  for (const _ in value) return true;
  return false;
}

/** The old value of an item is the item with the same keys in a map list, and the one with the same index in others. */
function itemsCode(code: CheckCode, schema: ListSchema): string[] {
  const checks = valueCode(code, schema.items, ITEM);
  if (!checks) return [];
  const oldItem = code.constant(schema.list === 'map' && schema.keys ? byKeys(schema.keys) : byIndex);
  return [
    code.count('value.length'),
    `for (let i = 0; i < value.length && found.length < ${MAX_ERRORS}; i++) {`,
    code.pause,
    `  n = found.length; v = value[i]; ${skipNull(schema.items)} o = old && ${oldItem}(old, v, i);`,
    `  ${checks}`,
    `  if (found.length > n) ${code.constant(prefixItem)}(found, n, i);`,
    '}',
  ];
}

const skipNull = (item: Schema) => (item.nullable ? 'if (v === null) continue;' : '');

type OldItem = (old: readonly Tree[], item: Tree, index: number) => unknown;

const byIndex: OldItem = (old, _item, index) => old[index];

/**
 * Finds old items by their keys. Most items are where they were; the positions of the others are looked up, so that the
 * walk stays linear.
 */
function byKeys(keys: readonly string[]): OldItem {
  const indexes = new WeakMap<readonly Tree[], Map<string, Tree>>();
  const identityOf = (item: Tree) => JSON.stringify(keys.map((key) => item[key]));
  const indexOf = (old: readonly Tree[]) => {
    let index = indexes.get(old);
    if (!index) {
      index = new Map();
      for (let i = old.length - 1; i >= 0; i--) index.set(identityOf(old[i]!), old[i]!);
      indexes.set(old, index);
    }
    return index;
  };
  return (old, item, index) => {
    const before = old[index];
    if (before && keys.every((key) => before[key] === item[key])) return before;
    return indexOf(old).get(identityOf(item));
  };
}

function valuesCode(code: CheckCode, schema: MapSchema): string[] {
  const checks = valueCode(code, schema.values, ITEM);
  if (!checks) return [];
  return [
    'for (const key in value) {',
    `  if (found.length >= ${MAX_ERRORS}) break;`,
    code.count('1'),
    code.pause,
    `  n = found.length; v = value[key]; ${skipNull(schema.values)}`,
    '  o = old && Object.hasOwn(old, key) ? old[key] : undefined;',
    `  ${checks}`,
    `  if (found.length > n) ${code.constant(prefixItem)}(found, n, key);`,
    '}',
  ];
}

/** Resolved when it is first reached: a shape may contain itself. */
function lazyCode(code: CheckCode, resolve: () => Schema): string {
  const checker: Checker = {
    check: (value, old, run, parent) => checkerOf(resolve())?.check(value, old, run, parent),
    *walk(value, old, run, parent) {
      const resolved = checkerOf(resolve());
      if (resolved) yield* resolved.walk(value, old, run, parent);
    },
  };
  return code.call(checker, WHOLE);
}

/**
 * What is wrong with a decoded object: the checks that stand in its description. Each description is compiled once;
 * parts without a check compile to nothing and are not walked. Paths are put together only for what is wrong.
 */
import { deepEqual } from '../base/tree.ts';
import type { FieldError } from './field-error.ts';
import { invalid, joinPath, notSupported, required } from './field-error.ts';
import type { IntegerSchema, ListSchema, MapSchema, ObjectSchema, Rule, RuleContext, Schema } from './schema.ts';

export type ValidationContext = Pick<RuleContext, 'operation' | 'old' | 'subresource'> &
  Partial<Pick<RuleContext, 'apiVersion'>>;

/** Once this much is wrong, the rest of a list is not looked at: it would only make the answer long. */
const ENOUGH = 1000;

/** Everything that is wrong, in the order of the description. */
export function validate(schema: Schema, value: unknown, context: ValidationContext): FieldError[] {
  const check = checkOf(schema);
  if (!check) return [];
  const { operation, subresource, apiVersion, old } = context;
  const run: Run = { operation, subresource, apiVersion, root: value, oldRoot: old, found: [] };
  check(value, old, { run, parent: undefined });
  return run.found;
}

/** What stays the same on the way down, and what was found. */
interface Run extends Pick<RuleContext, 'operation' | 'subresource' | 'root' | 'oldRoot' | 'apiVersion'> {
  readonly found: FieldError[];
}

/** Where a value stands. */
interface Place {
  readonly run: Run;
  /** The object that holds it. */
  readonly parent: unknown;
}

/** Adds what is wrong with a present value to what was found; paths are from the value. */
type Check = (value: any, old: any, place: Place) => void;

const compiled = new WeakMap<object, Check | null>();

/** Undefined where there is nothing to check. */
function checkOf(schema: Schema): Check | undefined {
  const known = compiled.get(schema);
  if (known !== undefined) return known ?? undefined;
  const check = compile(schema);
  compiled.set(schema, check ?? null);
  return check;
}

/** The value's own limits, then what is inside it, then its rules; rules do not see a value beyond its limits. */
function compile(schema: Schema): Check | undefined {
  const limits = limitsOf(schema);
  const inside = insideOf(schema);
  const rules = schema.rules?.length ? rulesCheck(schema.rules) : undefined;
  if (!limits && !rules) return inside;
  return (value, old, place) => {
    if (limits) {
      const wrong = limits(value);
      if (wrong) {
        place.run.found.push(wrong);
        return;
      }
    }
    if (inside) inside(value, old, place);
    if (rules) rules(value, old, place);
  };
}

function limitsOf(schema: Schema): ((value: any) => FieldError | undefined) | undefined {
  if (schema.type === 'string' && schema.enum) {
    const words = schema.enum;
    return (value) => (words.includes(value) ? undefined : notSupported('', value, words));
  }
  if (schema.type === 'integer' && (schema.min !== undefined || schema.max !== undefined)) return rangeOf(schema);
  return undefined;
}

function rangeOf({ min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }: IntegerSchema) {
  const words =
    max === Number.POSITIVE_INFINITY
      ? `must be greater than or equal to ${min}`
      : min === Number.NEGATIVE_INFINITY
        ? `must be less than or equal to ${max}`
        : `must be between ${min} and ${max}, inclusive`;
  return (value: number) => (value < min || value > max ? invalid('', value, words) : undefined);
}

function rulesCheck(rules: readonly Rule[]): Check {
  return (value, old, { run, parent }) => {
    const { operation, subresource, apiVersion, root, oldRoot, found } = run;
    const context: RuleContext = { operation, old, parent, root, oldRoot, subresource, apiVersion };
    for (let i = 0; i < rules.length; i++) {
      const wrong = rules[i]!(value, context);
      if (wrong === undefined) continue;
      if ('reason' in wrong) found.push(wrong);
      else for (let k = 0; k < wrong.length && found.length < ENOUGH; k++) found.push(wrong[k]!);
    }
  };
}

function insideOf(schema: Schema): Check | undefined {
  switch (schema.type) {
    case 'object':
      return fieldsCheck(schema);
    case 'list':
      return itemsCheck(schema);
    case 'map':
      return valuesCheck(schema);
    case 'lazy':
      return (value, old, place) => checkOf(schema.resolve())?.(value, old, place);
    default:
      return undefined;
  }
}

/** A field's check and its place in the description. */
interface FieldCheck {
  readonly check: Check;
  readonly order: number;
}

/**
 * Only the fields that an object has are looked at, besides those that must be there or must not change: descriptions
 * have many fields and objects few. What is found is then brought into the order of the description.
 */
function fieldsCheck(schema: ObjectSchema): Check | undefined {
  const ofPresent: Record<string, FieldCheck> = Object.create(null);
  const ofAll: FieldCheck[] = [];
  Object.entries(schema.fields).forEach(([field, node], order) => {
    const check = fieldCheck(field, node);
    if (!check) return;
    if (node.required || node.immutable) ofAll.push({ check, order });
    else ofPresent[field] = { check, order };
  });
  if (ofAll.length === 0 && Object.keys(ofPresent).length === 0) return undefined;
  return (value, old, { run }) => {
    const place: Place = { run, parent: value };
    const { found } = run;
    let parts: Part[] | undefined;
    for (const key in value) {
      const field = ofPresent[key];
      if (field === undefined) continue;
      const from = found.length;
      field.check(value, old, place);
      if (found.length > from) parts = [...(parts ?? []), { order: field.order, from, to: found.length }];
    }
    for (let i = 0; i < ofAll.length; i++) {
      const from = found.length;
      ofAll[i]!.check(value, old, place);
      if (found.length > from) parts = [...(parts ?? []), { order: ofAll[i]!.order, from, to: found.length }];
    }
    if (parts && parts.length > 1) reorder(found, parts);
  };
}

/** What was found of one field. */
interface Part {
  readonly order: number;
  readonly from: number;
  readonly to: number;
}

function reorder(found: FieldError[], parts: readonly Part[]): void {
  const sorted = [...parts].sort((a, b) => a.order - b.order).flatMap(({ from, to }) => found.slice(from, to));
  found.splice(parts[0]!.from, sorted.length, ...sorted);
}

/** A field seen from the object that holds it: the field may be absent. The empty string is absent, too. */
function fieldCheck(field: string, schema: Schema): Check | undefined {
  const check = checkOf(schema);
  const { required: must, immutable } = schema;
  if (!check && !must && !immutable) return undefined;
  const missing = must ? required(field, must === true ? '' : must) : undefined;
  const mayBeEmpty = schema.type !== 'list' && schema.type !== 'map';
  const absent = schema.type === 'string' ? '' : null;
  return (object, oldObject, place) => {
    const value = object[field];
    const old = oldObject?.[field];
    // The very same value was checked when it was written.
    if (value === old && typeof value === 'object') return;
    const isAbsent = value === undefined || value === '';
    if (missing && (isAbsent || !(mayBeEmpty || hasEntries(value)))) {
      place.run.found.push(missing);
      return;
    }
    if (immutable && oldObject !== undefined && !deepEqual(value, old)) {
      place.run.found.push(invalid(field, value ?? absent, 'field is immutable'));
    }
    if (!check || isAbsent) return;
    const before = place.run.found.length;
    check(value, old, place);
    prefix(place.run.found, before, field);
  };
}

/** Puts a step in front of the paths of what was found since. */
function prefix(found: FieldError[], since: number, step: string): void {
  for (let i = since; i < found.length; i++) {
    const each = found[i]!;
    found[i] = { ...each, field: joinPath(step, each.field) };
  }
}

function hasEntries(value: object): boolean {
  if (Array.isArray(value)) return value.length > 0;
  for (const _ in value) return true;
  return false;
}

/** An item's old self is the one with the same keys in a map list, the one at the same place in any other. */
function itemsCheck(schema: ListSchema): Check | undefined {
  const check = checkOf(schema.items);
  if (!check) return undefined;
  const oldItem = schema.list === 'map' && schema.keys ? byKeys(schema.keys) : byIndex;
  return (list: any[], old: any[] | undefined, place) => {
    const { found } = place.run;
    for (let i = 0; i < list.length && found.length < ENOUGH; i++) {
      const before = found.length;
      check(list[i], old && oldItem(old, list[i], i), place);
      if (found.length > before) prefix(found, before, `[${i}]`);
    }
  };
}

type OldItem = (old: any[], item: any, index: number) => unknown;

const byIndex: OldItem = (old, _item, index) => old[index];

function byKeys(keys: readonly string[]): OldItem {
  return (old, item, index) => {
    const same = (other: any) => keys.every((key) => other?.[key] === item[key]);
    return same(old[index]) ? old[index] : old.find(same);
  };
}

function valuesCheck(schema: MapSchema): Check | undefined {
  const check = checkOf(schema.values);
  if (!check) return undefined;
  return (map: Record<string, unknown>, old: Record<string, unknown> | undefined, place) => {
    const { found } = place.run;
    for (const key in map) {
      if (found.length >= ENOUGH) return;
      const before = found.length;
      check(map[key], old && Object.hasOwn(old, key) ? old[key] : undefined, place);
      if (found.length > before) prefix(found, before, `[${key}]`);
    }
  };
}

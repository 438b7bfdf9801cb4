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

export function validate(schema: Schema, value: unknown, context: ValidationContext): FieldError[] {
  const found: FieldError[] = [];
  const check = checkOf(schema);
  const { operation, subresource, apiVersion, old } = context;
  check?.(value, old, { operation, subresource, apiVersion, root: value, oldRoot: old, parent: undefined }, found);
  return found;
}

/** What stays the same on the way down, and the object that holds the value. */
type Scope = Omit<RuleContext, 'old'>;

/** Adds what is wrong with a present value to `found`; paths are from the value. */
type CheckValue = (value: any, old: any, scope: Scope, found: FieldError[]) => void;

const compiled = new WeakMap<object, CheckValue | null>();

/** Undefined where there is nothing to check. */
function checkOf(schema: Schema): CheckValue | undefined {
  const known = compiled.get(schema);
  if (known !== undefined) return known ?? undefined;
  const check = compile(schema);
  compiled.set(schema, check ?? null);
  return check;
}

/** The value's own limits, then what is inside it, then its rules; rules do not see a value beyond its limits. */
function compile(schema: Schema): CheckValue | undefined {
  const limits = limitsOf(schema);
  const inside = insideOf(schema);
  const rules = schema.rules?.length ? rulesCheck(schema.rules) : undefined;
  if (!limits && !rules) return inside;
  return (value, old, scope, found) => {
    const before = found.length;
    limits?.(value, old, scope, found);
    if (found.length > before) return;
    inside?.(value, old, scope, found);
    rules?.(value, old, scope, found);
  };
}

function limitsOf(schema: Schema): CheckValue | undefined {
  if (schema.type === 'string' && schema.enum) {
    const words = schema.enum;
    return (value, _old, _scope, found) => {
      if (!words.includes(value)) found.push(notSupported('', value, words));
    };
  }
  if (schema.type === 'integer' && (schema.min !== undefined || schema.max !== undefined)) return rangeOf(schema);
  return undefined;
}

function rangeOf({ min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }: IntegerSchema): CheckValue {
  const words =
    max === Number.POSITIVE_INFINITY
      ? `must be greater than or equal to ${min}`
      : min === Number.NEGATIVE_INFINITY
        ? `must be less than or equal to ${max}`
        : `must be between ${min} and ${max}, inclusive`;
  return (value, _old, _scope, found) => {
    if (value < min || value > max) found.push(invalid('', value, words));
  };
}

function rulesCheck(rules: readonly Rule[]): CheckValue {
  return (value, old, scope, found) => {
    const context: RuleContext = { ...scope, old };
    for (const rule of rules) {
      const wrong = rule(value, context);
      if (wrong === undefined) continue;
      if ('reason' in wrong) found.push(wrong);
      else found.push(...wrong);
    }
  };
}

function insideOf(schema: Schema): CheckValue | undefined {
  switch (schema.type) {
    case 'object':
      return fieldsCheck(schema);
    case 'list':
      return itemsCheck(schema);
    case 'map':
      return valuesCheck(schema);
    case 'lazy':
      return (value, old, scope, found) => checkOf(schema.resolve())?.(value, old, scope, found);
    default:
      return undefined;
  }
}

type FieldCheck = (parent: any, oldParent: any, scope: Scope, found: FieldError[]) => void;

function fieldsCheck(schema: ObjectSchema): CheckValue | undefined {
  const checks: FieldCheck[] = [];
  for (const [field, node] of Object.entries(schema.fields)) {
    const check = fieldCheck(field, node);
    if (check) checks.push(check);
  }
  if (checks.length === 0) return undefined;
  return (value, old, scope, found) => {
    const inner: Scope = { ...scope, parent: value };
    for (const check of checks) check(value, old, inner, found);
  };
}

function fieldCheck(field: string, schema: Schema): FieldCheck | undefined {
  const check = checkOf(schema);
  const { required: must, immutable } = schema;
  if (!check && !must && !immutable) return undefined;
  const missing = must ? required(field, must === true ? '' : must) : undefined;
  const emptiable = schema.type === 'string' || schema.type === 'list' || schema.type === 'map';
  const absent = schema.type === 'string' ? '' : null;
  return (parent, oldParent, scope, found) => {
    const value = parent[field];
    if (missing && (value === undefined || (emptiable && isEmpty(value)))) {
      found.push(missing);
      return;
    }
    const old = oldParent?.[field];
    if (immutable && oldParent !== undefined && !deepEqual(value, old)) {
      found.push(invalid(field, value ?? absent, 'field is immutable'));
    }
    if (check && value !== undefined && value !== '') descend(field, found, () => check(value, old, scope, found));
  };
}

/** Runs a check and puts the step in front of the paths it adds. */
function descend(step: string, found: FieldError[], check: () => void): void {
  const before = found.length;
  check();
  for (let i = before; i < found.length; i++) {
    const each = found[i]!;
    found[i] = { ...each, field: joinPath(step, each.field) };
  }
}

function isEmpty(value: unknown): boolean {
  if (value === '') return true;
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.length === 0;
  for (const _ in value) return false;
  return true;
}

/** An item's old self is the one with the same keys in a map list, the one at the same place in any other. */
function itemsCheck(schema: ListSchema): CheckValue | undefined {
  const check = checkOf(schema.items);
  if (!check) return undefined;
  const oldItem = schema.list === 'map' && schema.keys ? byKeys(schema.keys) : byIndex;
  return (list: any[], old: any[] | undefined, scope, found) => {
    for (let i = 0; i < list.length; i++) {
      const item = list[i];
      descend(`[${i}]`, found, () => check(item, old && oldItem(old, item, i), scope, found));
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

function valuesCheck(schema: MapSchema): CheckValue | undefined {
  const check = checkOf(schema.values);
  if (!check) return undefined;
  return (map: Record<string, unknown>, old: Record<string, unknown> | undefined, scope, found) => {
    for (const key in map) {
      const before = old && Object.hasOwn(old, key) ? old[key] : undefined;
      descend(`[${key}]`, found, () => check(map[key], before, scope, found));
    }
  };
}

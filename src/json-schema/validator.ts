/**
 * Checks values against a structural schema, with the messages of Kubernetes. Everything is compiled on first use: an
 * object rarely has all fields of its schema.
 *
 * Values that an update leaves unchanged cause no errors (ratcheting), as far as they can be found in the old object.
 */

import { memoized } from '../base/collections/memoized.ts';
import type { DividedWork, Pace } from '../base/event-loop/in-turns.ts';
import { replayed } from '../base/event-loop/replay.ts';
import { canonicalJson } from '../base/json/canonical.ts';
import { isTree, type Tree } from '../base/json/tree.ts';
import {
  type FieldError,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from '../schema/field-error.ts';
import { compositions } from './compositions.ts';
import { formatOf } from './formats.ts';
import { itemsOf, type JsonSchema, valuesOf } from './json-schema.ts';
import { Progress, TooCostly } from './progress.ts';
import { sameValue } from './same-value.ts';
import { type Check, inParts, MAX_ERRORS, PART_ITEMS, type Run } from './validation-run.ts';

/** Value with the one that it replaces, if known; `path` is its location, '' for the object itself. */
export interface Validated {
  readonly value: unknown;
  readonly old?: unknown;
  readonly path?: string;
}

export function validateValue(schema: JsonSchema, validated: Validated, progress = new Progress()): FieldError[] {
  const { value, old, path = '' } = validated;
  const run: Run = { found: [], applied: 0, progress };
  try {
    checkOf(schema)(value, old, path, run);
  } catch (error) {
    if (!(error instanceof TooCostly)) throw error;
    const text =
      'has too many values for the patterns and the allOf, anyOf, oneOf and not of its schema: checking them takes too long';
    return [invalid(path ? fieldPath(path) : '<nil>', '', text)];
  }
  return run.found;
}

/** Works like `validateValue`, as work that yields when the pace is spent. */
export function* validateInTurns(schema: JsonSchema, validated: Validated, pace: Pace): DividedWork<FieldError[]> {
  const progress = new Progress(pace);
  return yield* replayed(() => {
    progress.rewind();
    return validateValue(schema, validated, progress);
  });
}

const checkOf = memoized((schema: JsonSchema): Check => ratcheting(schema, compile(schema)));

function ratcheting(schema: JsonSchema, check: Check): Check {
  return (value, old, path, run) => {
    const before = run.found.length;
    if (before >= MAX_ERRORS) return;
    check(value, old, path, run);
    if (run.found.length === before || old === undefined) return;
    const { isComposing, facts } = run.progress;
    // Schemas of a composition have no lists with keys.
    if (isComposing ? facts.isSame(value, old) : sameValue(schema, value, old)) run.found.length = before;
  };
}

function compile(schema: JsonSchema): Check {
  const type = typeCheck(schema);
  const parts = [
    compositions(schema, checkOf),
    strings(schema),
    numbers(schema),
    lists(schema),
    enumeration(schema),
    objects(schema),
  ].filter((part) => part !== undefined);
  const onNull = enumeration(schema);
  return (value, old, path, run) => {
    run.applied++;
    run.progress.apply();
    const wrong = type(value, path);
    if (wrong) run.found.push(wrong);
    if (value === null) return onNull?.(value, old, path, run);
    for (const part of parts) part(value, old, path, run);
  };
}

const bodyText = (path: string, text: string) => `${path} in body ${text}`;

/** The value as it is seen in messages; paths that begin with a dot are those of fields of the object itself. */
const fieldPath = (path: string) => (path.startsWith('.') ? path.slice(1) : path);

function jsonType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value === 'object' ? 'object' : typeof value;
}

function typeCheck(schema: JsonSchema): (value: unknown, path: string) => FieldError | undefined {
  const { type, nullable } = schema;
  const types = schema['x-kubernetes-int-or-string'] ? ['integer', 'string'] : type ? [type] : [];
  const expected = types.join(',');
  return (value, path) => {
    if (types.length === 0 || (value === null && nullable)) return undefined;
    const actual = jsonType(value);
    if (types.includes(actual) || (actual === 'integer' && types.includes('number'))) return undefined;
    return typeInvalid(fieldPath(path), actual, bodyText(path, `must be of type ${expected}: "${actual}"`));
  };
}

/** Length from which looking at a text takes a number of steps. */
const LONG_TEXT_CHARACTERS = 1_000;
const CHARACTERS_PER_STEP = 10;

function strings(schema: JsonSchema): Check | undefined {
  const { maxLength, minLength, pattern, format, type } = schema;
  const isFormat = format && (!type || type === 'string') ? formatOf(format) : undefined;
  if (maxLength === undefined && minLength === undefined && !pattern && !isFormat) return undefined;
  return (value, _old, path, { found, progress }) => {
    if (typeof value !== 'string') return;
    const field = fieldPath(path);
    if (value.length > LONG_TEXT_CHARACTERS) progress.spend(value.length / CHARACTERS_PER_STEP);
    const { facts } = progress;
    if (maxLength !== undefined && value.length > maxLength && facts.characters(value) > maxLength) {
      found.push(tooLong(field, maxLength));
    }
    if (minLength !== undefined && (value.length < minLength || facts.characters(value) < minLength)) {
      found.push(invalid(field, value, bodyText(path, `should be at least ${minLength} chars long`)));
    }
    const match = !pattern || progress.isMatch(pattern, value);
    if (match !== true) {
      const why = match === 'too long' ? 'is too long to be matched with' : 'should match';
      found.push(invalid(field, value, bodyText(path, `${why} '${pattern}'`)));
    }
    if (isFormat && !isFormat(value)) {
      found.push(typeInvalid(field, value, bodyText(path, `must be of type ${format}: ${JSON.stringify(value)}`)));
    }
  };
}

const INT32 = 2 ** 31;

function numbers(schema: JsonSchema): Check | undefined {
  const { maximum, minimum, multipleOf, exclusiveMaximum, exclusiveMinimum, format, type } = schema;
  const isInt32 = type === 'integer' && format === 'int32';
  if (maximum === undefined && minimum === undefined && multipleOf === undefined && !isInt32) return undefined;
  return (value, _old, path, { found }) => {
    if (typeof value !== 'number') return;
    const wrong = (text: string) => void found.push(invalid(fieldPath(path), value, bodyText(path, text)));
    if (isInt32 && Number.isInteger(value) && (value < -INT32 || value >= INT32)) {
      const text = `Checked value must be of type ${type} with format ${format} in ${path}`;
      found.push(invalid('<nil>', '', text));
    }
    if (multipleOf !== undefined && !isMultiple(value, multipleOf)) wrong(`should be a multiple of ${multipleOf}`);
    if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
      wrong(`should be greater than ${exclusiveMinimum ? '' : 'or equal to '}${minimum}`);
    }
    if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
      wrong(`should be less than ${exclusiveMaximum ? '' : 'or equal to '}${maximum}`);
    }
  };
}

function isMultiple(value: number, factor: number): boolean {
  if (!(factor > 0)) return false;
  const times = value / factor;
  return Math.abs(times - Math.round(times)) < 1e-9;
}

function enumeration({ enum: allowed }: JsonSchema): Check | undefined {
  if (!allowed?.length) return undefined;
  const texts = allowed.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)));
  // Both an enumeration and the list of its allowed values can have thousands of items.
  const known = new Set(allowed.map(canonicalJson));
  return (value, _old, path, { found, progress: { facts } }) => {
    if (!known.has(facts.canonical(value))) found.push(notSupported(fieldPath(path), value, texts));
  };
}

function lists(schema: JsonSchema): Check | undefined {
  const { minItems, maxItems, 'x-kubernetes-list-type': type, 'x-kubernetes-list-map-keys': keys } = schema;
  const items = itemsOf(schema);
  if (!items && minItems === undefined && maxItems === undefined) return undefined;
  return (value, old, path, run) => {
    if (!Array.isArray(value)) return;
    if (items) {
      const check = checkOf(items);
      const before = type === 'map' && keys && Array.isArray(old) ? itemsByKeys(old, keys) : undefined;
      inParts(value.length, run, (i, part) => {
        const was = before && isTree(value[i]) ? before.get(keysText(value[i] as Tree, keys!)) : undefined;
        check(value[i], was, `${path}[${i}]`, part);
      });
    }
    const { length } = value;
    if (minItems !== undefined && length < minItems) {
      run.found.push(invalid(fieldPath(path), length, bodyText(path, `should have at least ${minItems} items`)));
    }
    if (maxItems !== undefined && length > maxItems) run.found.push(tooMany(fieldPath(path), length, maxItems));
  };
}

/** Returns the keys that identify an item of a map list. */
const keysText = (item: Tree, keys: readonly string[]) => JSON.stringify(keys.map((key) => item[key] ?? null));

/** Returns the items of a map list by their keys; the first of several with the same keys. */
function itemsByKeys(items: readonly unknown[], keys: readonly string[]): Map<string, Tree> {
  const found = new Map<string, Tree>();
  for (const item of items) {
    if (!isTree(item)) continue;
    const text = keysText(item, keys);
    if (!found.has(text)) found.set(text, item);
  }
  return found;
}

function objects(schema: JsonSchema): Check | undefined {
  const { minProperties, maxProperties, required: demanded = [], properties, additionalProperties } = schema;
  const values = valuesOf(schema);
  const isEmpty = minProperties === undefined && maxProperties === undefined && demanded.length === 0;
  const forbids = additionalProperties === false;
  const looksInside = properties !== undefined || values !== undefined || forbids;
  if (isEmpty && !looksInside) return undefined;
  const has = (name: string) => properties !== undefined && Object.hasOwn(properties, name);
  return (value, old, path, run) => {
    if (!isTree(value)) return;
    const { found } = run;
    const was = isTree(old) ? old : undefined;
    const before = (key: string) => (was && Object.hasOwn(was, key) ? was[key] : undefined);
    if (minProperties !== undefined || maxProperties !== undefined) {
      const count = run.progress.facts.keyCount(value);
      if (minProperties !== undefined && count < minProperties) {
        found.push(invalid(fieldPath(path), count, bodyText(path, `should have at least ${minProperties} properties`)));
      }
      if (maxProperties !== undefined && count > maxProperties) {
        found.push(tooMany(fieldPath(path), count, maxProperties));
      }
    }
    const checkField = (key: string, part: Run) => {
      if (!Object.hasOwn(value, key) || value[key] === undefined) return;
      if (has(key)) checkOf(properties![key]!)(value[key], before(key), path ? `${path}.${key}` : key, part);
      else if (values) checkOf(values)(value[key], before(key), `${path}.${key}`, part);
      else if (forbids) {
        part.found.push(invalid(fieldPath(path), key, `${path}.${key} in body is a forbidden property`));
      }
    };
    // In a composition, each of thousands of schemas may be about a few of thousands of fields.
    const { isComposing, facts } = run.progress;
    const isAboutFew = isComposing && looksInside && !values && !forbids && facts.keyCount(value) > PART_ITEMS;
    const names = looksInside ? Object.keys(isAboutFew ? properties! : value) : [];
    inParts(names.length, run, (i, part) => checkField(names[i]!, part));
    if (found.length >= MAX_ERRORS) return;
    if (demanded.length > 0) run.progress.spend(demanded.length);
    for (const key of demanded) {
      if (!Object.hasOwn(value, key) || value[key] === undefined) found.push(required(fieldPath(`${path}.${key}`)));
    }
  };
}

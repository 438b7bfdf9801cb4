/** Checks that a schema is structural: everything has a type; value validations restrict only described fields. */

import type { DividedWork } from '../base/event-loop/in-turns.ts';
import type { TurnBudget } from '../base/event-loop/turn-budget.ts';
import { deepEqual } from '../base/json/tree.ts';
import { RegularExpressionError, regularExpression } from '../base/text/regular-expression.ts';
import { type FieldError, forbidden, invalid, joinPath, required } from '../schema/field-error.ts';
import { itemsOf, type JsonSchema, propertyOf, valuesOf } from './json-schema.ts';

type Level = 'root' | 'item' | 'field';

const UNTYPED: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

const INT_OR_STRING = [{ type: 'integer' }, { type: 'string' }];

type Pace = Pick<TurnBudget, 'isSpent'>;

/** Findings so far. A walk through a schema yields at a part of it when the pace is spent: there may be thousands. */
export interface Findings {
  readonly found: FieldError[];
  readonly pace: Pace;
}

/** Everything that keeps a schema from being structural, in alphabetical order. Yields when the pace is spent. */
export function* structuralErrors(schema: JsonSchema, path: string, pace: Pace): DividedWork<FieldError[]> {
  const found: FieldError[] = [];
  const findings = { found, pace };
  yield* invariants(schema, 'root', path, findings);
  yield* completeness(schema, schema, [path, path], findings);
  return found.sort((a, b) => (`${a.field}: ${a.message}` < `${b.field}: ${b.message}` ? -1 : 1));
}

export const propertyPath = (path: string, name: string) => `${path}.properties[${name}]`;

function* invariants(schema: JsonSchema, level: Level, path: string, findings: Findings): DividedWork<void> {
  const { found, pace } = findings;
  if (pace.isSpent()) yield;
  const { type = '', properties = {}, additionalProperties } = schema;
  const items = itemsOf(schema);
  if (type === 'array' && !schema.items) found.push(required(`${path}.items`, 'must be specified'));
  if (items) yield* invariants(items, 'item', `${path}.items`, findings);
  for (const [name, property] of Object.entries(properties)) {
    yield* invariants(property, 'field', propertyPath(path, name), findings);
  }
  if (additionalProperties !== undefined) {
    if (level === 'root') found.push(forbidden(`${path}.additionalProperties`, 'must not be used at the root'));
    const values = valuesOf(schema);
    if (values) yield* invariants(values, 'field', `${path}.additionalProperties`, findings);
  }
  extensions(schema, path, found);
  const isAnyOf = deepEqual(schema.anyOf, INT_OR_STRING);
  const isAllOf = deepEqual(schema.allOf?.[0]?.anyOf, INT_OR_STRING);
  yield* values(schema, { isAnyOf, isAllOf }, path, findings);
  typed(schema, level, path, found);
  metadata(schema, level, path, found);
}

function extensions(schema: JsonSchema, path: string, found: FieldError[]): void {
  if (!schema['x-kubernetes-int-or-string']) return;
  for (const word of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const) {
    if (schema[word]) {
      found.push(invalid(`${path}.${word}`, true, 'must be false if x-kubernetes-int-or-string is true'));
    }
  }
}

function typed(schema: JsonSchema, level: Level, path: string, found: FieldError[]): void {
  const { type = '', properties = {} } = schema;
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (isEmbedded && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    found.push(type ? invalid(`${path}.type`, type, detail) : required(`${path}.type`, detail));
  } else if (!type && !schema['x-kubernetes-int-or-string'] && !preserves) {
    found.push(required(`${path}.type`, UNTYPED[level]));
  }
  if (isEmbedded && schema.additionalProperties !== undefined) {
    const detail = 'must not be used if x-kubernetes-embedded-resource is set';
    found.push(forbidden(`${path}.additionalProperties`, detail));
  }
  if (level === 'root' && type && type !== 'object') {
    found.push(invalid(`${path}.type`, type, 'must be object at the root'));
  }
  if (isEmbedded && !preserves && Object.keys(properties).length === 0) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    found.push(required(`${path}.properties`, detail));
  }
}

/** The metadata of an object is described by the API itself: a schema can restrict its name only. */
function metadata(schema: JsonSchema, level: Level, path: string, found: FieldError[]): void {
  const { properties = {} } = schema;
  const isObject = level === 'root' || schema['x-kubernetes-embedded-resource'] === true;
  for (const name of ['kind', 'apiVersion']) {
    const type = properties[name]?.type ?? '';
    if (isObject && properties[name] && type !== 'string') {
      found.push(invalid(`${propertyPath(path, name)}.type`, type, 'must be string'));
    }
  }
  const meta = properties.metadata;
  if (!meta) return;
  const at = propertyPath(path, 'metadata');
  if (isObject && meta.type !== 'object') found.push(invalid(`${at}.type`, meta.type ?? '', 'must be object'));
  if (level !== 'root') return;
  const { type: _, properties: named = {}, default: __, ...rest } = meta;
  const isNameOnly = Object.keys(named).every((name) => name === 'name' || name === 'generateName');
  if (isNameOnly && Object.keys(rest).length === 0) return;
  const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
  found.push(forbidden(at, detail));
}

/** Marks the alternatives that an int-or-string may have. */
interface IntOrString {
  readonly isAnyOf?: boolean;
  readonly isAllOf?: boolean;
}

function* values(
  schema: JsonSchema,
  { isAnyOf, isAllOf }: IntOrString,
  path: string,
  findings: Findings,
): DividedWork<void> {
  const { anyOf = [], allOf = [], oneOf = [], not, pattern } = schema;
  if (!isAnyOf) for (const [i, each] of anyOf.entries()) yield* nested(each, {}, `${path}.anyOf[${i}]`, findings);
  for (const [i, each] of allOf.entries()) {
    yield* nested(each, { isAnyOf: isAllOf && i === 0 }, `${path}.allOf[${i}]`, findings);
  }
  for (const [i, each] of oneOf.entries()) yield* nested(each, {}, `${path}.oneOf[${i}]`, findings);
  if (not) yield* nested(not, {}, `${path}.not`, findings);
  if (!pattern) return;
  try {
    regularExpression(pattern);
  } catch (error) {
    if (!(error instanceof RegularExpressionError)) throw error;
    const detail = `must be a valid regular expression, but isn't: ${error.message}`;
    findings.found.push(invalid(`${path}.pattern`, pattern, detail));
  }
}

/** Words that a schema below allOf, anyOf, oneOf or not may not have. */
const NOT_NESTED: readonly (readonly [word: keyof JsonSchema, detail: string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
];

const isSet = (value: unknown) =>
  value !== undefined && value !== false && value !== '' && !(Array.isArray(value) && value.length === 0);

function* nested(schema: JsonSchema, allowed: IntOrString, path: string, findings: Findings): DividedWork<void> {
  const { found, pace } = findings;
  if (pace.isSpent()) yield;
  yield* values(schema, allowed, path, findings);
  const items = itemsOf(schema);
  if (items) yield* nested(items, {}, `${path}.items`, findings);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    yield* nested(property, {}, propertyPath(path, name), findings);
  }
  for (const [word, detail] of NOT_NESTED) {
    const value = schema[word];
    if (word === 'additionalProperties' ? value !== undefined : isSet(value)) {
      found.push(forbidden(joinPath(path, word), detail));
    }
  }
  if (schema.properties && Object.hasOwn(schema.properties, 'metadata')) {
    found.push(forbidden(propertyPath(path, 'metadata'), 'must not be specified in a nested context'));
  }
}

/** Checks that fields and items in value validations of the root are described outside of value validations. */
function* completeness(
  validation: JsonSchema,
  schema: JsonSchema | undefined,
  [schemaPath, path]: readonly [schemaPath: string, path: string],
  findings: Findings,
): DividedWork<void> {
  if (findings.pace.isSpent()) yield;
  if (!schema) {
    findings.found.push(required(schemaPath, `because it is defined in ${path}`));
    return;
  }
  const { allOf = [], anyOf = [], oneOf = [], not } = validation;
  for (const [word, list] of Object.entries({ allOf, anyOf, oneOf })) {
    for (const [i, each] of list.entries()) {
      yield* nestedCompleteness(each, schema, [schemaPath, `${path}.${word}[${i}]`], findings);
    }
  }
  if (not) yield* nestedCompleteness(not, schema, [schemaPath, `${path}.not`], findings);
}

function* nestedCompleteness(
  validation: JsonSchema,
  schema: JsonSchema,
  [schemaPath, path]: readonly [schemaPath: string, path: string],
  findings: Findings,
): DividedWork<void> {
  yield* completeness(validation, schema, [schemaPath, path], findings);
  const below = function* (each: JsonSchema, described: JsonSchema | undefined, paths: readonly [string, string]) {
    if (described) yield* nestedCompleteness(each, described, paths, findings);
    else findings.found.push(required(paths[0], `because it is defined in ${paths[1]}`));
  };
  const items = itemsOf(validation);
  if (items) yield* below(items, itemsOf(schema), [`${schemaPath}.items`, `${path}.items`]);
  for (const [name, property] of Object.entries(validation.properties ?? {})) {
    yield* below(property, propertyOf(schema, name), [propertyPath(schemaPath, name), propertyPath(path, name)]);
  }
}

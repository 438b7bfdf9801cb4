/** Checks everything in the schema of a custom kind besides its structure: words, list and map types, defaults. */
import { addAll } from '../base/collections/add-all.ts';
import { getOrInsert } from '../base/collections/get-or-insert.ts';
import type { DividedWork } from '../base/event-loop/in-turns.ts';
import { deepEqual, isTree, type Tree } from '../base/json/tree.ts';
import { decodeUnlimited } from '../schema/decode/decode.ts';
import { type FieldError, forbidden, invalid, notSupported, required, under } from '../schema/field-error.ts';
import type { ObjectSchema } from '../schema/schema.ts';
import { itemsOf, type JsonSchema, propertyOf, valuesOf } from './json-schema.ts';
import { type Findings, propertyPath, structuralErrors } from './structural-rules.ts';
import { fieldsOf } from './to-schema.ts';
import { validateInTurns } from './validator.ts';

interface Context {
  /** Why there must not be a default here. */
  readonly noDefault?: string;
  /** True for the schema of apiVersion, kind or metadata, of the object or of one inside it. */
  readonly inMetadata?: boolean;
}

interface SchemaOptions {
  readonly path: string;
  /** True when the version has a status subresource. */
  readonly hasStatus: boolean;
  readonly pace: Findings['pace'];
}

/** Everything that is wrong with the schema of a version. Yields when the pace is spent. */
export function* schemaErrors(schema: JsonSchema, { path, hasStatus, pace }: SchemaOptions): DividedWork<FieldError[]> {
  const found: FieldError[] = [];
  const findings = { found, pace };
  if (hasStatus) rootWords(schema, path, found);
  if (schema.nullable) found.push(forbidden(`${path}.nullable`, 'nullable cannot be true at the root'));
  const structural = yield* structuralErrors(schema, path, pace);
  if (structural.length > 0) addAll(found, structural);
  else yield* defaultErrors(schema, path, false, findings);
  yield* words(schema, path, {}, findings, true);
  return found;
}

const AT_ROOT = [
  ...['Description', 'Type', 'Format', 'Title', 'Maximum', 'ExclusiveMaximum', 'Minimum', 'ExclusiveMinimum'],
  ...['MaxLength', 'MinLength', 'Pattern', 'MaxItems', 'MinItems', 'UniqueItems', 'MultipleOf', 'Required', 'Items'],
  ...['Properties', 'ExternalDocs', 'Example', 'XPreserveUnknownFields', 'XValidations'],
];
/** Go's names of the words that are not those of the schema with a capital. */
const GO_NAMES: Readonly<Record<string, string>> = {
  'x-kubernetes-preserve-unknown-fields': 'XPreserveUnknownFields',
  'x-kubernetes-validations': 'XValidations',
};

/** Checks the words at the root. A status subresource cuts the status out of the whole; some words would be lost. */
function rootWords(schema: JsonSchema, path: string, found: FieldError[]): void {
  if (schema.type && schema.type !== 'object') {
    const detail =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    found.push(invalid(`${path}.type`, schema.type, detail));
    return;
  }
  const isOther = Object.entries(schema).some(([word, value]) => {
    const name = GO_NAMES[word] ?? word.charAt(0).toUpperCase() + word.slice(1);
    return value !== undefined && value !== false && word !== 'nullable' && !AT_ROOT.includes(name);
  });
  if (!isOther) return;
  const detail = `only [${AT_ROOT.join(' ')}] fields are allowed at the root of the schema if the status subresource is enabled`;
  found.push(invalid(path, schema, detail));
}

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

const UNSUPPORTED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'] as const;

function* words(
  schema: JsonSchema,
  path: string,
  context: Context,
  findings: Findings,
  isRoot = false,
): DividedWork<void> {
  const { found, pace } = findings;
  if (pace.isSpent()) yield;
  const { type = '' } = schema;
  if (type === 'null') {
    found.push(forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative'));
  } else if (type && !TYPES.includes(type)) found.push(notSupported(`${path}.type`, type, TYPES));
  if (schema.default !== undefined && context.noDefault) {
    found.push(forbidden(`${path}.default`, `must not be set ${context.noDefault}`));
  }
  for (const word of UNSUPPORTED) {
    const value = schema[word];
    const isUsed = word === 'id' ? Boolean(value) : value !== undefined && value !== null;
    if (isUsed) found.push(forbidden(`${path}.${word}`, `${word} is not supported`));
  }
  if (Array.isArray(schema.items)) {
    found.push(forbidden(`${path}.items`, 'items must be a schema object and not an array'));
  }
  if (context.inMetadata && schema['x-kubernetes-embedded-resource']) {
    found.push(forbidden(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta'));
  }
  if (schema.uniqueItems) {
    const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    found.push(forbidden(`${path}.uniqueItems`, detail));
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    found.push(invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'));
  }
  mapType(schema, path, found);
  listType(schema, path, found);
  ruleWords(schema, path, found);
  yield* children(schema, path, context, findings, isRoot);
}

const META_FIELDS: ReadonlySet<string> = new Set(['metadata', 'kind', 'apiVersion']);

function* children(
  schema: JsonSchema,
  path: string,
  context: Context,
  findings: Findings,
  isRoot: boolean,
): DividedWork<void> {
  const { properties = {}, additionalProperties, allOf = [], anyOf = [], oneOf = [], not } = schema;
  const values = valuesOf(schema);
  if (additionalProperties !== undefined && Object.keys(properties).length > 0 && additionalProperties !== true) {
    const detail = 'additionalProperties and properties are mutual exclusive';
    findings.found.push(forbidden(`${path}.additionalProperties`, detail));
  }
  if (values) {
    const inside = context.inMetadata ? { noDefault: 'inside additionalProperties applying to object metadata' } : {};
    yield* words(values, `${path}.additionalProperties`, { ...context, ...inside }, findings);
  }
  for (const [name, property] of Object.entries(properties)) {
    const isMeta = (isRoot || schema['x-kubernetes-embedded-resource'] === true) && META_FIELDS.has(name);
    const inner = {
      ...context,
      ...(isMeta ? { inMetadata: true } : {}),
      ...(isMeta && isRoot ? { noDefault: `in top-level ${name}` } : {}),
    };
    yield* words(property, propertyPath(path, name), inner, findings);
  }
  if (not) yield* words(not, `${path}.not`, context, findings);
  for (const [word, list] of Object.entries({ allOf, anyOf, oneOf })) {
    for (const [i, each] of list.entries()) yield* words(each, `${path}.${word}[${i}]`, context, findings);
  }
  const items = itemsOf(schema);
  if (items) yield* words(items, `${path}.items`, context, findings);
}

function mapType(schema: JsonSchema, path: string, found: FieldError[]): void {
  const { type = '', 'x-kubernetes-map-type': mapType } = schema;
  if (mapType === undefined) return;
  const detail = 'must be object if x-kubernetes-map-type is specified';
  if (type !== 'object') {
    found.push(type ? invalid(`${path}.type`, type, detail) : required(`${path}.type`, detail));
  }
  const known = ['atomic', 'granular'];
  if (!known.includes(mapType)) found.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, known));
}

function listType(schema: JsonSchema, path: string, found: FieldError[]): void {
  const { type = '', 'x-kubernetes-list-type': listType, 'x-kubernetes-list-map-keys': keys = [] } = schema;
  const items = itemsOf(schema);
  if (keys.length > 0 && listType !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
    const at = `${path}.x-kubernetes-list-type`;
    found.push(listType === undefined ? required(at, detail) : invalid(at, listType, detail));
  }
  if (listType === undefined) return;
  if (type !== 'array') {
    const detail = 'must be array if x-kubernetes-list-type is specified';
    found.push(type ? invalid(`${path}.type`, type, detail) : required(`${path}.type`, detail));
  } else if (listType === 'set' && items) setItems(items, path, found);
  const known = ['atomic', 'set', 'map'];
  if (!known.includes(listType)) found.push(notSupported(`${path}.x-kubernetes-list-type`, listType, known));
  if (listType === 'map') mapItems(schema, keys, path, found);
  if ((listType === 'set' || listType === 'map') && items?.nullable) {
    const detail = `cannot be nullable when x-kubernetes-list-type is ${listType}`;
    found.push(forbidden(`${path}.items.nullable`, detail));
  }
}

function setItems(items: JsonSchema, path: string, found: FieldError[]): void {
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const { 'x-kubernetes-list-type': list, 'x-kubernetes-map-type': map } = items;
  if (items.type === 'array' && list !== undefined && list !== 'atomic') {
    found.push(invalid(`${path}.items.x-kubernetes-list-type`, list, detail));
  }
  if (items.type === 'object' && map !== 'atomic') {
    found.push(invalid(`${path}.items.x-kubernetes-map-type`, map ?? null, detail));
  }
}

function mapItems(schema: JsonSchema, keys: readonly string[], path: string, found: FieldError[]): void {
  const items = itemsOf(schema);
  const keysPath = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) found.push(required(keysPath, 'must not be empty if x-kubernetes-list-type is map'));
  if (!schema.items) found.push(required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map'));
  if (!items) return;
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    found.push(invalid(`${path}.items.type`, items.type ?? '', detail));
    return;
  }
  const seen = new Set<string>();
  for (const key of keys) {
    const property = propertyOf(items, key);
    const at = propertyPath(`${path}.items`, key);
    if (!property) found.push(invalid(keysPath, keys, 'entries must all be names of item properties'));
    else {
      if (property.type === 'array' || property.type === 'object') {
        const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
        found.push(invalid(`${at}.type`, items.type, detail));
      }
      if (!items.required?.includes(key) && property.default === undefined) {
        const detail =
          'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
        found.push(required(`${at}.default`, detail));
      }
      if (property.nullable) {
        const detail = 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable';
        found.push(forbidden(`${at}.nullable`, detail));
      }
    }
    if (seen.has(key)) found.push(invalid(keysPath, keys, 'must not contain duplicate entries'));
    seen.add(key);
  }
}

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

const hasNewlines = (text: string) => /[\n\r]/.test(text);

/** The words of validation rules; their expressions are compiled elsewhere. */
function ruleWords(schema: JsonSchema, path: string, found: FieldError[]): void {
  schema['x-kubernetes-validations']?.forEach((each, i) => {
    const at = `${path}.x-kubernetes-validations[${i}]`;
    const { rule = '', message = '', messageExpression = '', reason, fieldPath = '' } = each;
    if (!rule.trim()) found.push(required(`${at}.rule`, 'rule is not specified'));
    else if (message && !message.trim())
      found.push(invalid(`${at}.message`, message, 'must be non-empty if specified'));
    else if (hasNewlines(message.trim())) found.push(invalid(`${at}.message`, message, 'must not contain line breaks'));
    else if (hasNewlines(rule.trim()) && !message.trim()) {
      found.push(required(`${at}.message`, 'message must be specified if rule contains line breaks'));
    }
    if (messageExpression && !messageExpression.trim()) {
      found.push(required(`${at}.messageExpression`, 'messageExpression must be non-empty if specified'));
    }
    if (reason !== undefined && !REASONS.includes(reason)) found.push(notSupported(`${at}.reason`, reason, REASONS));
    if (fieldPath && !fieldPath.trim()) {
      found.push(invalid(`${at}.fieldPath`, fieldPath, 'must be non-empty if specified'));
    }
    if (hasNewlines(fieldPath)) found.push(invalid(`${at}.fieldPath`, fieldPath, 'must not contain line breaks'));
  });
}

/** A default must be valid itself, and have no fields that would be dropped. */
function* defaultErrors(schema: JsonSchema, path: string, inMetadata: boolean, findings: Findings): DividedWork<void> {
  const { found, pace } = findings;
  if (pace.isSpent()) yield;
  if (schema.default !== undefined && !inMetadata) {
    const at = `${path}.default`;
    if (!isPruned(schema)) found.push(invalid(at, schema.default, 'must not have unknown fields'));
    addAll(found, under(at, yield* validateInTurns(schema, { value: schema.default }, pace)));
  }
  const items = itemsOf(schema);
  if (items) yield* defaultErrors(items, `${path}.items`, inMetadata, findings);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    yield* defaultErrors(property, propertyPath(path, name), inMetadata || META_FIELDS.has(name), findings);
  }
}

function isPruned(schema: JsonSchema): boolean {
  const { default: value } = schema;
  const bare = fieldsOf({ properties: { value: describing([value], schema) } });
  const wrapper: ObjectSchema = { type: 'object', name: 'Default', fields: bare };
  const { value: pruned } = decodeUnlimited(wrapper, { value }) as { value?: unknown };
  return deepEqual(pruned ?? null, value ?? null);
}

/** Returns the parts of a schema that describe something in these values. Parts that none reaches are not read. */
function describing(values: readonly unknown[], schema: JsonSchema): JsonSchema {
  const { default: _, properties, items: __, additionalProperties: ___, ...rest } = schema;
  const items = itemsOf(schema);
  const rests = valuesOf(schema);
  const trees = values.filter(isTree);
  return {
    ...rest,
    ...(items ? { items: describing(values.filter(Array.isArray).flat(), items) } : {}),
    ...(rests ? { additionalProperties: describing(trees.flatMap(Object.values), rests) } : {}),
    ...(typeof schema.additionalProperties === 'boolean' ? { additionalProperties: schema.additionalProperties } : {}),
    ...(properties ? { properties: describingFields(trees, properties) } : {}),
  };
}

function describingFields(trees: readonly Tree[], properties: Readonly<Record<string, JsonSchema>>) {
  const byName = new Map<string, unknown[]>();
  for (const [name, value] of trees.flatMap(Object.entries)) {
    if (!Object.hasOwn(properties, name)) continue;
    getOrInsert(byName, name, () => []).push(value);
  }
  return Object.fromEntries([...byName].map(([name, values]) => [name, describing(values, properties[name]!)]));
}

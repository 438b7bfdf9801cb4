/** Turns a structural schema into a schema of ours: pruning, defaults, list types. Values are checked by validator.ts. */
import type { Fields, ObjectSchema, Schema } from '../schema/schema.ts';
import { itemsOf, type JsonSchema, valuesOf } from './json-schema.ts';

/** Custom kinds limit their lists by `maxItems` and by the size of a request alone. */
const MAX_ITEMS = 10_000_000;

/** The options that every value of a custom kind has. */
const COMMON = { lenient: true, keepEmpty: true } as const;

/** Schema of any value, kept as it is. */
const FREE_FORM: ObjectSchema = Object.freeze({
  ...COMMON,
  type: 'object',
  name: 'Any',
  fields: Object.freeze({}),
  preserveUnknown: true,
} as const);

const TEXT: Schema = Object.freeze({ ...COMMON, type: 'string' });

const EMBEDDED: Fields = Object.freeze({ apiVersion: TEXT, kind: TEXT, metadata: FREE_FORM });

/**
 * Returns the fields of the root of a structural schema, without those that every object has. `metadata`, if given, is
 * that of embedded objects, whatever the structural schema says: it can only restrict their names.
 */
export function fieldsOf({ properties = {} }: JsonSchema, metadata?: Schema): Fields {
  const { apiVersion: _, kind: __, metadata: ___, ...own } = properties;
  return schemasOf(own, metadata);
}

function schemasOf(properties: Readonly<Record<string, JsonSchema>>, metadata: Schema | undefined): Fields {
  const entries = Object.entries(properties);
  return Object.freeze(Object.fromEntries(entries.map(([name, each]) => [name, schemaOf(each, metadata)])));
}

function schemaOf(source: JsonSchema, metadata: Schema | undefined): Schema {
  const { default: preset, nullable } = source;
  return Object.freeze({
    ...typed(source, metadata),
    ...(preset === undefined ? {} : { default: preset as never }),
    ...(nullable ? { nullable } : {}),
  });
}

function typed(source: JsonSchema, metadata: Schema | undefined): Schema {
  if (source['x-kubernetes-int-or-string']) return { ...COMMON, type: 'intOrString' };
  switch (source.type) {
    case 'string':
      return TEXT;
    case 'integer':
      return { ...COMMON, type: 'integer', format: 'int64' };
    case 'number':
      return { ...COMMON, type: 'number' };
    case 'boolean':
      return { ...COMMON, type: 'boolean' };
    case 'array':
      return listOf(source, metadata);
    case 'object':
      return objectOf(source, metadata);
    default:
      return source.properties ? objectOf(source, metadata) : FREE_FORM;
  }
}

function listOf(source: JsonSchema, metadata: Schema | undefined): Schema {
  const items = itemsOf(source);
  const { 'x-kubernetes-list-type': type, 'x-kubernetes-list-map-keys': keys } = source;
  return {
    ...COMMON,
    type: 'list',
    items: items ? schemaOf(items, metadata) : FREE_FORM,
    maxItems: MAX_ITEMS,
    list: type === 'set' || type === 'map' ? type : 'atomic',
    ...(type === 'map' && keys ? { keys } : {}),
  };
}

function objectOf(source: JsonSchema, metadata: Schema | undefined): Schema {
  const atomic = source['x-kubernetes-map-type'] === 'atomic';
  const values = valuesOf(source);
  if (values && !source.properties) {
    return { ...COMMON, type: 'map', values: schemaOf(values, metadata), atomic, maxItems: MAX_ITEMS };
  }
  const embedded = source['x-kubernetes-embedded-resource'] === true;
  const own = schemasOf(source.properties ?? {}, metadata);
  return {
    ...COMMON,
    type: 'object',
    name: 'Object',
    atomic,
    fields: embedded ? Object.freeze({ ...EMBEDDED, ...own, ...(metadata ? { metadata } : {}) }) : own,
    preserveUnknown: source['x-kubernetes-preserve-unknown-fields'] === true || source.additionalProperties === true,
    ...(embedded ? { embedded } : {}),
  };
}

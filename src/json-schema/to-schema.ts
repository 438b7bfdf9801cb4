/** Turns a structural schema into a schema of ours: pruning, defaults, list types. Values are checked by validator.ts. */
import type { Fields, ObjectSchema, Schema } from '../schema/schema.ts';
import { itemsOf, type JsonSchema, valuesOf } from './json-schema.ts';

/** Custom kinds limit their lists by `maxItems` and by the size of a request alone. */
const MAX_ITEMS = 10_000_000;

/** The options that every value of a custom kind has. */
const COMMON = { lenient: true, keepEmpty: true } as const;

/** Any value, kept as it is. */
const FREE_FORM: ObjectSchema = Object.freeze({
  ...{ ...COMMON, type: 'object', name: 'Any', fields: Object.freeze({}), preserveUnknown: true },
} as const);

const TEXT: Schema = Object.freeze({ ...COMMON, type: 'string' });

/** The fields of the root of a structural schema, without those that every object has. */
export function fieldsOf({ properties = {} }: JsonSchema): Fields {
  const { apiVersion: _, kind: __, metadata: ___, ...own } = properties;
  return schemasOf(own);
}

function schemasOf(properties: Readonly<Record<string, JsonSchema>>): Fields {
  return Object.freeze(Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, schemaOf(each)])));
}

function schemaOf(source: JsonSchema): Schema {
  const { default: preset, nullable } = source;
  return Object.freeze({
    ...typed(source),
    ...(preset === undefined ? {} : { default: preset as never }),
    ...(nullable ? { nullable } : {}),
  });
}

function typed(source: JsonSchema): Schema {
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
      return listOf(source);
    case 'object':
      return objectOf(source);
    default:
      return source.properties ? objectOf(source) : FREE_FORM;
  }
}

function listOf(source: JsonSchema): Schema {
  const items = itemsOf(source);
  const { 'x-kubernetes-list-type': type, 'x-kubernetes-list-map-keys': keys } = source;
  return {
    ...{ ...COMMON, type: 'list', items: items ? schemaOf(items) : FREE_FORM, maxItems: MAX_ITEMS },
    list: type === 'set' || type === 'map' ? type : 'atomic',
    ...(type === 'map' && keys ? { keys } : {}),
  };
}

function objectOf(source: JsonSchema): Schema {
  const atomic = source['x-kubernetes-map-type'] === 'atomic';
  const values = valuesOf(source);
  if (values && !source.properties) {
    return { ...COMMON, type: 'map', values: schemaOf(values), atomic, maxItems: MAX_ITEMS };
  }
  const embedded = source['x-kubernetes-embedded-resource'] === true;
  const own = schemasOf(source.properties ?? {});
  return {
    ...{ ...COMMON, type: 'object', name: 'Object', atomic },
    fields: embedded ? Object.freeze({ apiVersion: TEXT, kind: TEXT, metadata: FREE_FORM, ...own }) : own,
    preserveUnknown: source['x-kubernetes-preserve-unknown-fields'] === true || source.additionalProperties === true,
    ...(embedded ? { embedded } : {}),
  };
}

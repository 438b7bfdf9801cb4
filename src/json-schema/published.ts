/** The published form of a custom kind's schema. */
import { itemsOf, type JsonSchema, valuesOf } from './json-schema.ts';

type Json = Readonly<Record<string, unknown>>;

const KIND = 'Kind of the object in CamelCase. Cannot be changed.';
/** A conformance test looks for the first two words. */
const API_VERSION = 'APIVersion defines the API group and version that the object is written in.';

/** The definition of a kind: its schema, with the fields that every object has. */
export function publishedSchema(schema: JsonSchema, version: 2 | 3, metadata: object): Json {
  // kubectl rejects all fields of an object that are not listed, once one of them is.
  if (version === 2 && schema['x-kubernetes-preserve-unknown-fields']) return { type: 'object' };
  return withMeta(published(schema, version, metadata), metadata);
}

function withMeta(schema: Json, metadata: object): Json {
  return {
    ...schema,
    properties: {
      ...(schema.properties as Json | undefined),
      apiVersion: { description: API_VERSION, type: 'string' },
      kind: { description: KIND, type: 'string' },
      metadata,
    },
  };
}

/** Objects inside an object have its fields, too. */
function embedded(schema: Json, metadata: object): Json {
  const { required = [] } = schema as { required?: readonly string[] };
  const more = ['kind', 'apiVersion'].filter((name) => !required.includes(name));
  return { ...withMeta(schema, metadata), required: [...required, ...more] };
}

const INT_OR_STRING: readonly JsonSchema[] = [{ type: 'integer' }, { type: 'string' }];

/** A schema of any depth, in OpenAPI 3 with the alternatives that an integer or string has. */
function published(schema: JsonSchema, version: 2 | 3, metadata: object): Json {
  const inner = (each: JsonSchema) => published(each, version, metadata);
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const { properties } = schema;
  const out: Record<string, unknown> = version === 2 ? reduced(schema) : { ...schema };
  delete out.$schema;
  const items = itemsOf(schema);
  const values = valuesOf(schema);
  if (items && 'items' in out) out.items = inner(items);
  if (values) out.additionalProperties = inner(values);
  if (properties && 'properties' in out) {
    out.properties = Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, inner(each)]));
  }
  if (version === 3 && schema['x-kubernetes-int-or-string'] && !isUnfolded(schema)) {
    if (schema.anyOf) out.allOf = [{ anyOf: INT_OR_STRING }, ...(schema.allOf ?? [])];
    else out.anyOf = INT_OR_STRING;
  }
  const isObject = schema['x-kubernetes-embedded-resource'] === true && !(version === 2 && preserves);
  return isObject ? embedded(out, metadata) : out;
}

/** Reports whether an integer or string already lists its alternatives. */
function isUnfolded({ anyOf, allOf }: JsonSchema): boolean {
  const isPair = (list: readonly JsonSchema[] | undefined) =>
    list?.length === 2 && list[0]!.type === 'integer' && list[1]!.type === 'string';
  return isPair(anyOf) || isPair(allOf?.[0]?.anyOf);
}

/** Words that OpenAPI 2 does not have, or that kubectl does not understand there. */
const NOT_IN_2: readonly (keyof JsonSchema)[] = ['allOf', 'anyOf', 'oneOf', 'not', 'nullable', 'default'];

/**
 * Returns a schema without the features that OpenAPI 2 lacks: null, alternatives and, as in the documents of built-in
 * kinds, defaults. A value that may be null has no type there. kubectl rejects fields that are not listed, so that an
 * object which keeps unknown fields lists none.
 */
function reduced(schema: JsonSchema): Record<string, unknown> {
  const out: Record<string, unknown> = { ...schema };
  for (const word of NOT_IN_2) delete out[word];
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (schema.nullable || preserves) {
    delete out.items;
    delete out.properties;
  }
  if (schema.nullable || (preserves && schema.type === 'object') || (schema.type === 'array' && !out.items)) {
    delete out.type;
  }
  const { properties = {}, required } = schema;
  // A client of OpenAPI 2 takes null for missing.
  if (required) {
    const isNullable = valuesOf(schema)?.nullable === true;
    const demanded = isNullable ? [] : required.filter((name) => !properties[name]?.nullable);
    if (demanded.length > 0) out.required = demanded;
    else delete out.required;
  }
  return out;
}

/** The published form of a custom kind's schema. */
import { itemsOf, type JsonSchema, valuesOf } from './json-schema.ts';

type Json = Readonly<Record<string, unknown>>;

const KIND = 'Kind of the object in CamelCase. Cannot be changed.';
const API_VERSION = 'API group and version that the object is written in.';

/** The definition of a kind: its schema, with the fields that every object has. */
export function publishedSchema(schema: JsonSchema, version: 2 | 3, metadata: object): Json {
  const own = version === 3 ? complete(schema) : reduced(schema, true);
  const { properties } = own as { properties?: Json };
  if (!properties && version === 2) return own;
  return {
    ...own,
    properties: {
      ...properties,
      apiVersion: { description: API_VERSION, type: 'string' },
      kind: { description: KIND, type: 'string' },
      metadata,
    },
  };
}

/** OpenAPI 3 has a word for everything that a structural schema says. */
function complete(schema: JsonSchema): Json {
  const { properties, ...rest } = schema;
  return properties ? { ...rest, properties } : { ...rest };
}

/** Words that clients of OpenAPI 2 do not know, or would understand otherwise. */
const NOT_IN_V2: ReadonlySet<string> = new Set([
  ...['anyOf', 'oneOf', 'not', 'nullable', 'default', 'x-kubernetes-validations', 'example', 'externalDocs'],
]);

/**
 * OpenAPI 2 has no null and no alternatives: a value that may be null or of several types has no type there. Clients such as
 * kubectl refuse fields that are not listed, so that an object which keeps unknown fields lists none.
 */
function reduced(schema: JsonSchema, isRoot = false): Json {
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const isUntyped = schema.nullable === true || schema['x-kubernetes-int-or-string'] === true || (preserves && !isRoot);
  const out: Record<string, unknown> = {};
  for (const [word, value] of Object.entries(schema)) {
    if (!NOT_IN_V2.has(word) && word !== 'allOf') out[word] = value;
  }
  if (isUntyped || preserves) {
    for (const word of ['properties', 'items', 'additionalProperties', 'required', 'enum']) delete out[word];
    if (isUntyped && !preserves) delete out.type;
    return out;
  }
  const items = itemsOf(schema);
  const values = valuesOf(schema);
  if (items) out.items = reduced(items);
  if (values) out.additionalProperties = reduced(values);
  if (schema.properties) {
    const rows = Object.entries(schema.properties).map(([name, each]) => [name, reduced(each)]);
    out.properties = Object.fromEntries(rows);
    // A required field without a type may be null, which clients of OpenAPI 2 take for missing.
    const { required = [] } = schema;
    const kept = required.filter((name) => !schema.properties?.[name]?.nullable);
    if (kept.length > 0) out.required = kept;
    else delete out.required;
  }
  return out;
}

/** The published form of a custom kind's schema. */
import { itemsOf, type JsonSchema, valuesOf } from './json-schema.ts';

type Json = Readonly<Record<string, unknown>>;

const KIND = 'Kind of the object in CamelCase. Cannot be changed.';
const API_VERSION = 'API group and version that the object is written in.';

/** The definition of a kind: its schema, with the fields that every object has. */
export function publishedSchema(schema: JsonSchema, version: 2 | 3, metadata: object): Json {
  const own: Json = version === 3 ? { ...schema } : reduced(schema);
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

/** Words that say the same in OpenAPI 2. Limits and alternatives are left out, as those of built-in kinds are. */
const IN_BOTH: readonly (keyof JsonSchema)[] = [
  ...(['description', 'type', 'format'] as const),
  ...(['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const),
  ...(['x-kubernetes-int-or-string', 'x-kubernetes-list-type', 'x-kubernetes-list-map-keys'] as const),
  'x-kubernetes-map-type',
];

/**
 * OpenAPI 2 has no null and no alternatives: a value that may be null or of several types has no type there. Clients such as
 * kubectl refuse fields that are not listed, so that an object which keeps unknown fields lists none.
 */
function reduced(schema: JsonSchema): Json {
  const out: Record<string, unknown> = {};
  for (const word of IN_BOTH) if (schema[word] !== undefined) out[word] = schema[word];
  if (schema.nullable || schema['x-kubernetes-int-or-string']) {
    delete out.type;
    return out;
  }
  if (schema['x-kubernetes-preserve-unknown-fields']) return out;
  const items = itemsOf(schema);
  const values = valuesOf(schema);
  if (items) out.items = reduced(items);
  if (values) out.additionalProperties = reduced(values);
  const { properties, required = [] } = schema;
  if (!properties) return out;
  out.properties = Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, reduced(each)]));
  // A client of OpenAPI 2 takes null for missing.
  const demanded = required.filter((name) => !properties[name]?.nullable);
  if (demanded.length > 0) out.required = demanded;
  return out;
}

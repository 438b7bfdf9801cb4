import { expect, it } from 'vitest';
import { encodeDocument } from '../server/serving/openapi/dialects/proto.ts';
import type { JsonSchema } from './json-schema.ts';
import { publishedSchema } from './published.ts';

const METADATA = { $ref: '#/definitions/ObjectMeta' };

/** A value with every word that limits it. */
const limited: JsonSchema = {
  ...{
    type: 'string',
    format: 'date',
    enum: ['a'],
    pattern: 'a',
    minLength: 1,
    maxLength: 2,
    default: 'a',
    title: 't',
  },
  ...{ anyOf: [{ pattern: 'a' }], oneOf: [{ pattern: 'a' }], allOf: [{ pattern: 'a' }], not: { pattern: 'b' } },
  'x-kubernetes-validations': [{ rule: 'true' }],
};

/** Form of the schema in OpenAPI 2: no alternatives and no default. */
const LIMITED_2 = {
  ...{ type: 'string', format: 'date', enum: ['a'], pattern: 'a', minLength: 1, maxLength: 2, title: 't' },
  'x-kubernetes-validations': [{ rule: 'true' }],
};

const schema: JsonSchema = {
  type: 'object',
  required: ['spec', 'maybe'],
  properties: {
    spec: {
      ...{ type: 'object', minProperties: 1, properties: { limited, count: { type: 'integer', minimum: 1 } } },
      'x-kubernetes-map-type': 'atomic',
    },
    maybe: { type: 'string', nullable: true },
    either: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { known: { type: 'string' } } },
    map: { type: 'object', additionalProperties: { type: 'array', maxItems: 3, items: limited } },
    open: { type: 'object', additionalProperties: true },
  },
};

it('OpenAPI 2 has the parts of a schema that its clients understand', () => {
  const published = publishedSchema(schema, 2, METADATA);
  expect(published).toEqual({
    type: 'object',
    required: ['spec'],
    properties: {
      apiVersion: expect.objectContaining({ type: 'string' }),
      kind: expect.objectContaining({ type: 'string' }),
      metadata: METADATA,
      spec: {
        type: 'object',
        minProperties: 1,
        properties: { limited: LIMITED_2, count: { type: 'integer', minimum: 1 } },
        'x-kubernetes-map-type': 'atomic',
      },
      maybe: {},
      either: { 'x-kubernetes-int-or-string': true },
      any: { 'x-kubernetes-preserve-unknown-fields': true },
      map: { type: 'object', additionalProperties: { type: 'array', maxItems: 3, items: LIMITED_2 } },
      open: { type: 'object', additionalProperties: true },
    },
  });
});

it('lists no fields in OpenAPI 2 of objects that keep unknown fields', () => {
  expect(publishedSchema({ ...schema, 'x-kubernetes-preserve-unknown-fields': true }, 2, METADATA)).toEqual({
    type: 'object',
  });
});

it('describes the fields of objects inside an object', () => {
  const inside = { type: 'object', properties: { a: { type: 'string' } }, 'x-kubernetes-embedded-resource': true };
  const { properties } = publishedSchema({ type: 'object', properties: { inside } }, 2, METADATA) as any;
  expect(properties.inside).toMatchObject({ properties: { metadata: METADATA }, required: ['kind', 'apiVersion'] });
});

it('lists the alternatives of an integer or string in OpenAPI 3', () => {
  const either = { 'x-kubernetes-int-or-string': true } as const;
  const pattern = { ...either, anyOf: [{ pattern: 'a' }] };
  const { properties } = publishedSchema({ type: 'object', properties: { either, pattern } }, 3, METADATA) as any;
  const pair = [{ type: 'integer' }, { type: 'string' }];
  expect(properties).toMatchObject({ either: { anyOf: pair }, pattern: { ...pattern, allOf: [{ anyOf: pair }] } });
});

it('the schema can be written in protobuf, which older clients read', () => {
  const definitions = { Thing: publishedSchema(schema, 2, METADATA) };
  expect(encodeDocument({ definitions }).includes('limited')).toBe(true);
});

it('OpenAPI 3 has all parts of a schema', () => {
  const { properties } = publishedSchema(schema, 3, METADATA) as any;
  expect(properties).toMatchObject({ ...schema.properties, metadata: METADATA });
});

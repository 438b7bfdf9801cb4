import { expect, it } from 'vitest';
import { encodeDocument } from '../server/openapi/proto.ts';
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

it('says in OpenAPI 2 what its clients understand', () => {
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
        properties: { limited: { type: 'string', format: 'date' }, count: { type: 'integer' } },
        'x-kubernetes-map-type': 'atomic',
      },
      maybe: {},
      either: { 'x-kubernetes-int-or-string': true },
      any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      map: { type: 'object', additionalProperties: { type: 'array', items: { type: 'string', format: 'date' } } },
      open: { type: 'object' },
    },
  });
});

it('can be written in protobuf, which older clients read', () => {
  const definitions = { Thing: publishedSchema(schema, 2, METADATA) };
  expect(encodeDocument({ definitions }).includes('limited')).toBe(true);
});

it('says everything in OpenAPI 3', () => {
  const { properties } = publishedSchema(schema, 3, METADATA) as any;
  expect(properties).toMatchObject({ ...schema.properties, metadata: METADATA });
});

import { describe, expect, it } from 'vitest';
import { atOnce, countTurns, NEVER_SPENT } from '../../test/support/divided-work.ts';
import type { JsonSchema } from './json-schema.ts';
import { schemaErrors } from './schema-rules.ts';

const errors = (properties: Record<string, JsonSchema>, more: JsonSchema = {}, hasStatus = false) =>
  atOnce(schemaErrors({ type: 'object', properties, ...more }, { path: 's', hasStatus, pace: NEVER_SPENT })).map(
    ({ field, message }) => `${field}: ${message}`,
  );

describe('a schema must be structural', () => {
  it.each<[name: string, property: JsonSchema, expected: string]>([
    ['without a type', {}, 's.properties[a].type: Required value: must not be empty for specified object fields'],
    ['a list without items', { type: 'array' }, 's.properties[a].items: Required value: must be specified'],
    [
      'items without a type',
      { type: 'array', items: {} },
      's.properties[a].items.type: Required value: must not be empty for specified array items',
    ],
    [
      'a type in an alternative',
      { type: 'string', anyOf: [{ type: 'string' }] },
      's.properties[a].anyOf[0].type: Forbidden: must be empty to be structural',
    ],
    [
      'a pattern that is none',
      { type: 'string', pattern: '(' },
      's.properties[a].pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`',
    ],
    [
      'an embedded object that is none',
      { type: 'string', 'x-kubernetes-embedded-resource': true },
      's.properties[a].type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true',
    ],
  ])('%s', (_, property, expected) => {
    expect(errors({ a: property })).toContain(expected);
  });

  it('except where the value is an integer or a string', () => {
    const anyOf = [{ type: 'integer' }, { type: 'string' }];
    expect(errors({ a: { 'x-kubernetes-int-or-string': true, anyOf } })).toEqual([]);
    expect(errors({ a: { 'x-kubernetes-int-or-string': true, allOf: [{ anyOf }, { pattern: 'a' }] } })).toEqual([]);
  });

  it('and restrict the name of the object only', () => {
    expect(errors({ metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 5 } } } })).toEqual(
      [],
    );
    expect(errors({ metadata: { type: 'object', properties: { labels: { type: 'object' } } } })).toEqual([
      's.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
    ]);
  });
});

it.each<[name: string, property: JsonSchema, expected: string]>([
  [
    'unique items',
    { type: 'array', uniqueItems: true, items: { type: 'string' } },
    's.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
  ],
  ['references', { type: 'string', $ref: '#/a' }, 's.properties[a].$ref: Forbidden: $ref is not supported'],
  [
    'both sorts of fields',
    { type: 'object', properties: { b: { type: 'string' } }, additionalProperties: { type: 'string' } },
    's.properties[a].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive',
  ],
  [
    'a map list without keys',
    { type: 'array', 'x-kubernetes-list-type': 'map', items: { type: 'object' } },
    's.properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map',
  ],
  [
    'a default that is invalid',
    { type: 'string', default: 5 },
    's.properties[a].default: Invalid value: "integer":  in body must be of type string: "integer"',
  ],
  [
    'a default with unknown fields',
    { type: 'object', default: { b: 1 } },
    's.properties[a].default: Invalid value: {"b":1}: must not have unknown fields',
  ],
  [
    'a rule without an expression',
    { type: 'string', 'x-kubernetes-validations': [{ rule: ' ' }] },
    's.properties[a].x-kubernetes-validations[0].rule: Required value: rule is not specified',
  ],
])('other words: %s', (_, property, expected) => {
  expect(errors({ a: property })).toContain(expected);
});

it('other words are limited at the root where the status is kept apart', () => {
  const found = errors({ a: { type: 'string' } }, { maxProperties: 3 }, true);
  expect(found).toHaveLength(1);
  expect(found[0]).toContain('fields are allowed at the root of the schema if the status subresource is enabled');
});

it('a schema is checked in turns: every part may be the end of one', () => {
  const spent = { path: 's', hasStatus: false, pace: { isSpent: () => true } };
  const parts = 100;
  const fields = (schema: (i: number) => JsonSchema) =>
    Object.fromEntries(Array.from({ length: parts }, (_, i) => [`field${i}`, schema(i)]));
  const turnsOf = (schema: JsonSchema) => countTurns(schemaErrors(schema, spent));
  const types = ['structure', 'defaults', 'words'];
  expect(turnsOf({ type: 'object', properties: fields(() => ({ type: 'string' })) })).toMatchObject({ value: [] });
  const wide = turnsOf({ type: 'object', properties: fields(() => ({ type: 'string' })) });
  expect(wide.turns).toBeGreaterThan(types.length * parts);
  const anyOf = Array.from({ length: parts }, () => ({ required: ['a'] }));
  const alternatives = turnsOf({ type: 'object', properties: { a: { type: 'string' } }, anyOf });
  expect(alternatives).toMatchObject({ value: [] });
  expect(alternatives.turns).toBeGreaterThan(types.length * parts);
});

it('reads what is below defaults once, however many there are', () => {
  const readsAt = (depth: number) => {
    let reads = 0;
    const leaf = {
      get type() {
        reads++;
        return 'string';
      },
    };
    let schema: JsonSchema = leaf;
    for (let i = 0; i < depth; i++) schema = { type: 'object', properties: { a: schema }, default: {} };
    expect(errors({ a: schema })).toEqual([]);
    return reads;
  };
  expect(readsAt(40)).toBe(readsAt(20));
});

describe('a default', () => {
  const field: JsonSchema = { type: 'object', properties: { known: { type: 'string' } } };
  const unknown = 's.properties[a].default: Invalid value: ';
  it.each<[name: string, schema: JsonSchema, good: unknown, bad: unknown]>([
    ['of an object', field, { known: 'a' }, { known: 'a', other: 'b' }],
    ['of a list', { type: 'array', items: field }, [{ known: 'a' }, {}], [{}, { other: 'b' }]],
    ['of a map', { type: 'object', additionalProperties: field }, { x: { known: 'a' } }, { x: {}, y: { other: 'b' } }],
    ['of an object in an object', { type: 'object', properties: { in: field } }, { in: {} }, { in: { other: 'b' } }],
  ])('%s has no unknown fields', (_, schema, good, bad) => {
    expect(errors({ a: { ...schema, default: good } })).toEqual([]);
    expect(errors({ a: { ...schema, default: bad } })).toEqual([expect.stringContaining(unknown)]);
  });
});

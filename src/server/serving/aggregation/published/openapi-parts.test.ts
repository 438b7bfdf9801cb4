import { expect, it } from 'vitest';
import { atOnce, countTurns, NEVER_SPENT } from '../../../../../test/support/divided-work.ts';
import { encodeDocument } from '../../openapi/dialects/proto.ts';
import { documentV2 } from '../../openapi/dialects/v2.ts';
import { documentOf as dividedDocument, partOf as dividedPart } from './openapi-parts.ts';

const ROOT = '/apis/gauges.example.com/v1';
const partOf = (body: Buffer, root: string) => atOnce(dividedPart(body, root, NEVER_SPENT));
const documentOf = (body: Buffer) => atOnce(dividedDocument(body, NEVER_SPENT));
const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const nested = (levels: number) => `${'{"items":'.repeat(levels)}{}${'}'.repeat(levels)}`;

it.each([
  ['nothing', ''],
  ['nonsense', 'nonsense'],
  ['null', 'null'],
  ['deep lists', `{"definitions":{"a":${deep(50_000)}}}`],
  ['deep schemas', `{"definitions":{"a":${nested(50_000)}}}`],
  ['deep extensions', `{"definitions":{"a":{"x-deep":${deep(50_000)}}}}`],
  ['brackets in strings', `{"definitions":{"a":{"description":"${'['.repeat(5000)}\\""}}}`],
  ['other types', '{"paths":5,"definitions":{"a":7,"b":{"properties":3,"items":[],"required":[1]}},"parameters":[]}'],
  ['keywords that cannot be published', `{"paths":{"${ROOT}":{"get":{"surprise":1}},"${ROOT}/x":null}}`],
  ['prototypes', '{"definitions":{"__proto__":{"polluted":true},"a":{"__proto__":{"polluted":true}}}}'],
  ['many values', `{"definitions":{"a":{"x-many":[${'0,'.repeat(600_000)}0]}}}`],
])('publishes a document with %s together with others', (_, text) => {
  const part = partOf(Buffer.from(text), ROOT);
  const document = documentV2([part]);
  expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  encodeDocument(document);
  expect(({} as any).polluted).toBeUndefined();
  const v3 = documentOf(Buffer.from(text));
  expect(JSON.parse(JSON.stringify(v3)).openapi).toBe('3.0.0');
});

it('publishes the others when one entry cannot be published', () => {
  const paths = { [`${ROOT}/a`]: { get: { surprise: 1 } }, [`${ROOT}/b`]: { get: { description: 'fine' } } };
  expect(partOf(Buffer.from(JSON.stringify({ paths })), ROOT).paths).toEqual({
    [`${ROOT}/b`]: { get: { description: 'fine' } },
  });
});

it('reads a long document in many turns, whether or not all of it can be published', () => {
  const entries = (one: object) => Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`n${i}`, one]));
  const paths = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`${ROOT}/${i}`, { get: { surprise: 1 } }]));
  const parameters = entries({ in: 'query', name: 'x' });
  const body = Buffer.from(
    JSON.stringify({ openapi: '3.0.0', paths, parameters, definitions: entries({ type: 'object' }) }),
  );
  const pace = { isSpent: () => true };
  const { value, turns } = countTurns(dividedPart(body, ROOT, pace));
  // Includes the check of all values, and two turns for each entry.
  expect(turns).toBeGreaterThan(1_000);
  expect([Object.keys(value.paths).length, Object.keys(value.definitions).length]).toEqual([0, 100]);
  expect(Object.keys(value.parameters)).toHaveLength(100);
  expect(countTurns(dividedDocument(body, pace)).turns).toBeGreaterThan(400);
});

it('drops an entry that is too large for a turn', () => {
  const properties = Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`p${i}`, { type: 'string' }]));
  const definitions = { large: { properties }, 'large extension': { 'x-many': Array(60_000).fill(0) }, small: {} };
  expect(partOf(Buffer.from(JSON.stringify({ definitions })), ROOT).definitions).toEqual({ small: {} });
});

import { expect, it } from 'vitest';
import { fc, forAll } from '../../test/support/property-runs.ts';
import { shortJson } from './short-json.ts';

it('writes short values as JSON.stringify does', () => {
  forAll(fc.jsonValue({ maxDepth: 4 }), (value) => {
    const whole = JSON.stringify(value);
    expect(shortJson(value)).toBe(whole.length <= 2_000 ? whole : `${whole.slice(0, 2_000)}...`);
  });
  expect(shortJson(undefined)).toBe('null');
  expect(shortJson({ a: undefined, b: [undefined, { c: undefined }] })).toBe('{"b":[null,{}]}');
});

it.each<[string, unknown, string]>([
  ['a string', 'a'.repeat(3_000_000), `"${'a'.repeat(1_999)}...`],
  ['a list', Array(100_000).fill(1), `[${'1,'.repeat(999)}1...`],
  ['a key', { ['k'.repeat(3_000)]: 1 }, `{"${'k'.repeat(1_998)}...`],
  ['a map', Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [1000 + i, 1])), `{"1000":1,"1001":1,`],
])('cuts %s that is too long', (_, value, start) => {
  const text = shortJson(value);
  expect(text.startsWith(start)).toBe(true);
  expect(text.length).toBe(2_003);
});

it('a value of exactly the length that fits is kept', () => {
  const text = 'a'.repeat(1_998);
  expect(shortJson(text)).toBe(`"${text}"`);
  expect(shortJson(`${text}a`)).toBe(`"${text}a...`);
});

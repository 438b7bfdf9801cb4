import { expect, it } from 'vitest';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import { canonicalJson } from './canonical.ts';

it('sorts keys at every depth, and drops undefined values', () => {
  expect(canonicalJson({ b: [{ z: 1, a: undefined, c: null }], a: 'x' })).toBe('{"a":"x","b":[{"c":null,"z":1}]}');
  expect(canonicalJson([undefined, { '10': 1, '9': 2 }])).toBe('[null,{"10":1,"9":2}]');
  expect(canonicalJson(undefined)).toBe('null');
});

/** Reverses the key order of all objects. */
function backwards(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(backwards);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, each]) => [key, backwards(each)]),
  );
}

it('gives the same text only for equal values', () => {
  forAll(fc.jsonValue(), (value) => {
    const text = canonicalJson(value);
    expect(canonicalJson(backwards(value))).toBe(text);
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
  });
});

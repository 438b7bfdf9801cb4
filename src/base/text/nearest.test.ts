import { expect, test } from 'vitest';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import { editDistance, nearest } from './nearest.ts';

test.each([
  ['', '', 0],
  ['', 'abc', 3],
  ['port', 'port', 0],
  ['prot', 'port', 1],
  ['datadir', 'data-dir', 1],
  ['bogus', 'nodes', 3],
  ['kitten', 'sitting', 3],
])('from "%s" to "%s" it takes %d', (from, to, distance) => {
  expect(editDistance(from, to)).toBe(distance);
  expect(editDistance(to, from)).toBe(distance);
});

test('the distance is zero only between equal words, and one edit changes it by at most one', () => {
  const word = fc.string({ maxLength: 12 });
  forAll(word, word, fc.nat(12), (a, b, at) => {
    const distance = editDistance(a, b);
    expect(distance === 0).toBe(a === b);
    expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
    expect(Math.abs(editDistance(a.slice(0, at) + a.slice(at + 1), b) - distance)).toBeLessThanOrEqual(1);
  });
});

test('the nearest word is the one with the fewest edits', () => {
  expect(nearest('prot', ['nodes', 'port', 'store'])).toBe('port');
  expect(nearest('x', [])).toBeUndefined();
});

test.each([
  ['foo', ['up', 'proxy', 'token']],
  ['history', ['list', 'encryption', 'diff']],
  ['name', ['help', 'port', 'wait']],
])('%s is near none of %j', (word, candidates) => {
  expect(nearest(word, candidates)).toBeUndefined();
});

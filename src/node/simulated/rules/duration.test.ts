import { expect, test } from 'vitest';
import { systemRandom } from '../../../base/random.ts';
import { parseDurationRange, sample } from './duration.ts';

test.each([
  ['2s', 2_000, 2_000],
  ['500ms..2s', 500, 2_000],
  ['1m30s .. 2h', 90_000, 7_200_000],
  ['0', 0, 0],
  ['1.5s', 1_500, 1_500],
])('%s is a duration or a range', (text, min, max) => {
  expect(parseDurationRange(text)).toEqual({ min, max });
});

test.each(['', '2', 's', '2s..', '3s..2s', '1s..2s..3s', '-1s', '1d'])('%j is none', (text) => {
  expect(parseDurationRange(text)).toBeUndefined();
});

test('a duration is sampled from the whole range', () => {
  const seen = new Set(Array.from({ length: 200 }, () => sample({ min: 1, max: 3 }, systemRandom)));
  expect([...seen].sort()).toEqual([1, 2, 3]);
});

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

test('the longest duration can be sampled, and longer ones are none', () => {
  const range = parseDurationRange('0..87600h');
  expect(range).toEqual({ min: 0, max: 87_600 * 3_600_000 });
  expect(sample(range ?? { min: 0, max: 0 }, systemRandom)).toBeGreaterThanOrEqual(0);
  expect(parseDurationRange('1s..99999999999999h')).toBeUndefined();
  expect(parseDurationRange(`${'9'.repeat(400)}h`)).toBeUndefined();
});

test('a duration is sampled from the whole range', () => {
  const seen = new Set(Array.from({ length: 200 }, () => sample({ min: 1, max: 3 }, systemRandom)));
  expect([...seen].sort()).toEqual([1, 2, 3]);
});

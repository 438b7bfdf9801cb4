import { expect, it } from 'vitest';
import { elapsed, humanDuration } from './elapsed.ts';

const S = 1000;
const M = 60 * S;
const H = 60 * M;
const D = 24 * H;
const Y = 365 * D;

it.each([
  [-2 * S, '<invalid>'],
  [-1999, '0s'],
  [0, '0s'],
  [1999, '1s'],
  [2 * M - 1, '119s'],
  [2 * M, '2m'],
  [3 * M + 20 * S, '3m20s'],
  [10 * M - 1, '9m59s'],
  [10 * M + 59 * S, '10m'],
  [3 * H - 1, '179m'],
  [3 * H, '3h'],
  [7 * H + 59 * M, '7h59m'],
  [8 * H + 59 * M, '8h'],
  [2 * D - 1, '47h'],
  [2 * D, '2d'],
  [3 * D + 4 * H, '3d4h'],
  [8 * D + 4 * H, '8d'],
  [2 * Y - 1, '729d'],
  [2 * Y, '2y'],
  [3 * Y + 10 * D + 5 * H, '3y10d'],
  [8 * Y + 10 * D, '8y'],
  [Number.NaN, '<invalid>'],
])('a duration of %d ms is %s', (milliseconds, text) => {
  expect(humanDuration(milliseconds)).toBe(text);
});

const now = Date.parse('2026-06-01T12:00:00.500Z');

it.each([
  ['2026-06-01T11:59:00Z', '60s'],
  ['2026-06-01T12:00:01.000001Z', '0s'],
  ['2027-06-01T12:00:00Z', '<invalid>'],
  [undefined, '<unknown>'],
  [null, '<unknown>'],
])('the time since: %s is %s', (time, text) => {
  expect(elapsed(time, now)).toBe(text);
});

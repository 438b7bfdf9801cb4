import { describe, expect, it } from 'vitest';
import { canonicalDuration, canonicalTime } from './time-formats.ts';

describe('a time', () => {
  it.each([
    ['2024-02-29T23:59:59Z', '2024-02-29T23:59:59Z'],
    ['2024-01-01T00:30:00+01:00', '2023-12-31T23:30:00Z'],
    ['2024-01-01T00:00:00.999999999Z', '2024-01-01T00:00:00Z'],
    ['2024-01-01T5:00:00Z', '2024-01-01T05:00:00Z'],
    ['0050-01-01T00:00:00Z', '0050-01-01T00:00:00Z'],
    ['0050-01-01T00:00:00-01:00', '0050-01-01T01:00:00Z'],
  ])('%s is kept as %s', (text, canonical) => {
    expect(canonicalTime(text, 0)).toBe(canonical);
  });

  it('that is the zero time is none', () => {
    expect(canonicalTime('0001-01-01T00:00:00Z', 0)).toBe(undefined);
    expect(canonicalTime('0001-01-01T01:00:00+01:00', 0)).toBe(undefined);
    expect(canonicalTime('0001-01-01T00:00:00.000000Z', 6)).toBe(undefined);
    expect(canonicalTime('0001-01-01T00:00:00.000001Z', 6)).toBe('0001-01-01T00:00:00.000001Z');
  });

  const layout = '"2006-01-02T15:04:05Z07:00"';
  it.each([
    ['', `parsing time "" as ${layout}: cannot parse "" as "2006"`],
    ['2024', `parsing time "2024" as ${layout}: cannot parse "" as "-"`],
    ['2024-1-01T00:00:00Z', `parsing time "2024-1-01T00:00:00Z" as ${layout}: cannot parse "1-01T00:00:00Z" as "01"`],
    ['2024-01-01 00:00:00Z', `parsing time "2024-01-01 00:00:00Z" as ${layout}: cannot parse " 00:00:00Z" as "T"`],
    ['2024-01-01T00:00:00', `parsing time "2024-01-01T00:00:00" as ${layout}: cannot parse "" as "Z07:00"`],
    ['2024-13-01T00:00:00Z', 'parsing time "2024-13-01T00:00:00Z": month out of range'],
    ['2023-02-29T00:00:00Z', 'parsing time "2023-02-29T00:00:00Z": day out of range'],
    ['2024-01-01T24:00:00Z', 'parsing time "2024-01-01T24:00:00Z": hour out of range'],
    ['2024-01-01T00:60:00Z', 'parsing time "2024-01-01T00:60:00Z": minute out of range'],
    ['2024-01-01T00:00:60Z', 'parsing time "2024-01-01T00:00:60Z": second out of range'],
    ['2024-01-01T00:00:00Zx', 'parsing time "2024-01-01T00:00:00Zx": extra text: "x"'],
    ['2024-01-01T00:00:00+25:00', 'parsing time "2024-01-01T00:00:00+25:00": time zone offset hour out of range'],
    ['9999-12-31T23:59:59-01:00', 'parsing time "9999-12-31T23:59:59-01:00": year out of range'],
  ])('%j is none: %s', (text, message) => {
    expect(() => canonicalTime(text, 0)).toThrow(message);
  });

  it('with microseconds has all six digits', () => {
    expect(canonicalTime('2024-01-01T00:00:00.120000+01:00', 6)).toBe('2023-12-31T23:00:00.120000Z');
    expect(() => canonicalTime('2024-01-01T00:00:00Z', 6)).toThrow(
      'parsing time "2024-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
    );
  });
});

it.each([
  ['0', '0s'],
  ['90m', '1h30m0s'],
  ['1h0m30.5s', '1h0m30.5s'],
  ['-1.5h', '-1h30m0s'],
  ['+5s', '5s'],
  ['1500ms', '1.5s'],
  ['1500us', '1.5ms'],
  ['999ns', '999ns'],
  ['.5s', '500ms'],
  ['2h45m', '2h45m0s'],
])('a duration: %s is kept as %s', (text, canonical) => {
  expect(canonicalDuration(text)).toBe(canonical);
  expect(canonicalDuration(canonical)).toBe(canonical);
});

it.each([
  ['', 'time: invalid duration ""'],
  ['x', 'time: invalid duration "x"'],
  ['5', 'time: missing unit in duration "5"'],
  ['5d', 'time: unknown unit "d" in duration "5d"'],
  ['5toString', 'time: unknown unit "toString" in duration "5toString"'],
  ['9999999999h', 'time: invalid duration "9999999999h"'],
])('a duration: %j is none: %s', (text, message) => {
  expect(() => canonicalDuration(text)).toThrow(message);
});

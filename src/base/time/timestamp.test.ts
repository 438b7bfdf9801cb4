import { expect, test } from 'vitest';
import { microTimestamp, timestamp } from './timestamp.ts';

test('a timestamp is rounded down to the second', () => {
  const time = Date.parse('2030-01-01T12:34:56.999Z');
  expect(timestamp(time)).toBe('2030-01-01T12:34:56Z');
  expect(timestamp(time + 1)).toBe('2030-01-01T12:34:57Z');
  expect(timestamp(new Date(time))).toBe('2030-01-01T12:34:56Z');
  expect(timestamp(-1)).toBe('1969-12-31T23:59:59Z');
});

test('leases carry microseconds', () => {
  expect(microTimestamp(Date.parse('2030-01-01T12:34:56.789Z'))).toBe('2030-01-01T12:34:56.789000Z');
});

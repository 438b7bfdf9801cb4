import { expect, test } from 'vitest';
import { ageText, bytesText } from './text.ts';

test.each([
  [0, '0 B'],
  [1_023, '1023 B'],
  [1_536, '1.5 KiB'],
  [10 * 1_024, '10 KiB'],
  [3.25 * 2 ** 30, '3.3 GiB'],
])('%d bytes are %s', (bytes, text) => expect(bytesText(bytes)).toBe(text));

test.each([
  [-5, '0m'],
  [119 * 60_000, '119m'],
  [2 * 3_600_000, '2h'],
  [47 * 3_600_000, '47h'],
  [48 * 3_600_000, '2d'],
])('%d milliseconds are %s', (milliseconds, text) => expect(ageText(milliseconds)).toBe(text));

import { expect, it } from 'vitest';
import { isShallow } from './depth.ts';

it.each([
  ['[[1],{"a":[]}]', 3, true],
  ['[[1],{"a":[[]]}]', 3, false],
  ['["[[[[", "\\"[[[[", "\\\\"]', 1, true],
  ['{"a":{}}', 1, false],
  ['"text"', 0, true],
])('%s has at most %d levels: %s', (text, levels, expected) => {
  expect(isShallow(text, levels)).toBe(expected);
});

import { expect, it } from 'vitest';
import { exceeded, isShallow } from './size.ts';

it.each([
  ['[[1],{"a":[]}]', 3, true],
  ['[[1],{"a":[[]]}]', 3, false],
  ['["[[[[", "\\"[[[[", "\\\\"]', 1, true],
  ['{"a":{}}', 1, false],
  ['"text"', 0, true],
])('%s has at most %d levels: %s', (text, levels, expected) => {
  expect(isShallow(text, levels)).toBe(expected);
});

it.each([
  ['[1,2,3]', 3],
  ['{"a":1,"b":[]}', 5],
  ['[[],[],{}]', 6],
  ['{"a":"[,:{\\",[{"}', 2],
])('%s has %d parts', (text, parts) => {
  expect(exceeded(text, { maxDepth: 9, maxParts: parts })).toBeUndefined();
  expect(exceeded(text, { maxDepth: 9, maxParts: parts - 1 })).toBe('parts');
  expect(exceeded(text, { maxDepth: 0, maxParts: parts })).toBe('depth');
});

import { expect, it } from 'vitest';
import { hasFewParts } from './parts.ts';

it.each([
  ['[1,2,3]', 3],
  ['{"a":1,"b":[]}', 5],
  ['[[],[],{}]', 6],
  ['{"a":"[,:{\\",[{"}', 2],
])('%s has %d parts', (text, parts) => {
  expect(hasFewParts(text, parts)).toBe(true);
  expect(hasFewParts(text, parts - 1)).toBe(false);
});

import { expect, it } from 'vitest';
import { patternSize } from './pattern-limits.ts';

it.each([
  ['', 0],
  ['^abc$', 5],
  ['a{3}', 3],
  ['a{1,300}b', 301],
  ['(ab){10}', 40],
  ['((a{10}){10}){10}', 1220],
  ['[a-z0-9]{1,63}', 63],
  ['[]a{5}]', 1],
  ['\\{3}', 3],
  ['a{,3}', 5],
  ['(((', 0],
])('%s', (pattern, size) => {
  expect(patternSize(pattern)).toBe(size);
});

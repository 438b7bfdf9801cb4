import { expect, it } from 'vitest';
import { expand } from './expansion.ts';

const values = new Map([
  ['A', 'one'],
  ['B', 'two'],
  ['EMPTY', ''],
  ['DOLLAR', '$(A)'],
]);

it.each([
  ['plain', 'plain'],
  ['$(A)', 'one'],
  ['x$(A)y$(B)z', 'xoneytwoz'],
  ['$(EMPTY)', ''],
  // What is not known stays as it is.
  ['$(NONE)', '$(NONE)'],
  ['$()', '$()'],
  ['$$(A)', '$(A)'],
  ['$$$(A)', '$one'],
  ['$$$$', '$$'],
  ['$A', '$A'],
  ['$', '$'],
  ['a$', 'a$'],
  ['$(A', '$(A'],
  ['$(A $$ $(B', '$(A $ $(B'],
  // Values are not expanded again.
  ['$(DOLLAR)', '$(A)'],
  ['$($(A)', '$($(A)'],
])('expands %s to %s', (text, expected) => {
  expect(expand(text, (name) => values.get(name))).toBe(expected);
});

import { expect, test } from 'vitest';
import { table } from './table.ts';

test('columns are aligned, and lines have no trailing spaces', () => {
  expect(
    table([
      ['NAME', 'WHY'],
      ['a-long-name', 'x'],
      ['b', ''],
    ]),
  ).toEqual(['NAME          WHY', 'a-long-name   x', 'b']);
  expect(table([])).toEqual([]);
});

test('a row is one line, whatever is in its cells', () => {
  expect(
    table([
      ['A', 'B'],
      ['a\nb\x1b[2J', 'c\r'],
    ]),
  ).toEqual(['A         B', 'a b [2J   c']);
});

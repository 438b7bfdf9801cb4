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

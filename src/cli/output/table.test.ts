import { expect, test } from 'vitest';
import { table } from './table.ts';

test('columns are as wide as they must be, and no line ends with spaces', () => {
  expect(
    table([
      ['NAME', 'WHY'],
      ['a-long-name', 'x'],
      ['b', ''],
    ]),
  ).toEqual(['NAME          WHY', 'a-long-name   x', 'b']);
  expect(table([])).toEqual([]);
});

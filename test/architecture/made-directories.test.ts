/** Directories are created with those around them by one helper: Node's own recursive mkdir tries forever in /proc. */
import { expect, test } from 'vitest';
import { isTest, sourcesBelow } from './source.ts';

const RECURSIVE = /\bmkdir(Sync)?\([^;]*?\brecursive: true/;

test('no source uses the recursive mkdir of Node', () => {
  const found = sourcesBelow('src').filter(({ path, code }) => !isTest(path) && RECURSIVE.test(code));
  expect(found.map(({ path }) => path)).toEqual([]);
});

/** Requires that the rooms of src and their folders describe their content and their limits; deeper folders may. */
import { existsSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './source.ts';

/** `src/node/images`. */
const DEEPEST = 3;

test('every room and every folder of a room opens with a paragraph', () => {
  const folders = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((folder) => relative(root, folder).split(sep).length <= DEEPEST);
  expect(folders.length).toBeGreaterThan(50);
  const silent = folders.filter((folder) => !['README.md', 'index.ts'].some((name) => existsSync(join(folder, name))));
  expect(silent).toEqual([]);
});

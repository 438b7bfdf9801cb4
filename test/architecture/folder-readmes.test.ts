/** Requires that every folder of src describes its content and its limits. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './source.ts';

test('every folder opens with a paragraph', () => {
  const folders = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
  expect(folders.length).toBeGreaterThan(50);
  const silent = folders.filter((folder) => !['README.md', 'index.ts'].some((name) => existsSync(join(folder, name))));
  expect(silent).toEqual([]);
});

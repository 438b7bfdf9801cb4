/** Limits folders of src to as many entries as can be taken in at a glance; what belongs together has a folder of its own. */
import { expect, test } from 'vitest';
import { filesBelow } from './source.ts';

/** Files, tests included, and folders. */
const MAX_ENTRIES = 20;

/** Folders with more entries, as `folder: entries`. */
function largeFolders(paths: readonly string[]): string[] {
  const entries = new Map<string, Set<string>>();
  for (const path of paths) {
    const names = path.split('/');
    for (let depth = 1; depth < names.length; depth++) {
      const folder = names.slice(0, depth).join('/');
      entries.set(folder, (entries.get(folder) ?? new Set()).add(names[depth]!));
    }
  }
  return [...entries].filter(([, { size }]) => size > MAX_ENTRIES).map(([folder, { size }]) => `${folder}: ${size}`);
}

test('folders of src have at most twenty entries', () => {
  const paths = filesBelow('src', '');
  expect(paths.length).toBeGreaterThan(1000);
  expect(largeFolders(paths)).toEqual([]);
});

test.each([
  [20, 0, []],
  [21, 0, ['src/room: 21']],
  [15, 6, ['src/room: 21']],
])('%d files and %d folders', (files, folders, findings) => {
  const paths = [
    ...Array.from({ length: files }, (_, each) => `src/room/${each}.ts`),
    ...Array.from({ length: folders }, (_, each) => [`src/room/f${each}/a.ts`, `src/room/f${each}/b.ts`]).flat(),
  ];
  expect(largeFolders(paths)).toEqual(findings);
});

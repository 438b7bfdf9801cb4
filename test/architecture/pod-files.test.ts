/**
 * None of our code uses a path with the rights of the node that a pod, an image or a volume controls. Rooms of a node that handle such
 * paths reach files through `base/files-inside/`, and through `base/own-files/` what nobody else controls: an import says which.
 */
import { expect, test } from 'vitest';
import { analyse, isTest, type Source, sourcesBelow } from './source.ts';

const NODE_FS = new Set(['fs', 'fs/promises', 'node:fs', 'node:fs/promises']);

/** Rooms whose files are no pod's, with what they are. */
const OTHER_FILES: Readonly<Record<string, string>> = {
  'src/node/agent/static/': 'manifests of static pods, in a directory of the administrator',
  'src/node/cgroups/': 'cgroups, which the kernel makes',
  'src/node/containerd/':
    'configuration, sockets and archives of a container engine, which handles the files of pods itself',
  'src/node/images/archive/': 'archives that the user of `qd image` names',
  'src/node/images/build/': 'files that the user of `qd image` names',
  'src/node/machine/': 'what the kernel says about the machine',
  'src/node/process/keeper/': 'records, pipes and logs of the keeper',
  'src/node/process/network/': 'settings of the kernel',
};

function violations({ path, code, imports }: Source): string[] {
  if (Object.keys(OTHER_FILES).some((room) => path.startsWith(room))) return [];
  const found = imports.filter((name) => NODE_FS.has(name));
  // Descriptors as paths are the business of the helper alone.
  if (/\/proc\/\$\{process\.pid\}\/fd\b/.test(code)) found.push('/proc/self/fd');
  return found.map((what) => `${path}: ${what}`);
}

test('files of pods, images and volumes are reached through descriptors only', () => {
  const sources = sourcesBelow('src/node').filter(({ path }) => !isTest(path));
  expect(sources.flatMap(violations)).toEqual([]);
  // A room that is gone, or has no files any more, leaves the list.
  for (const room of Object.keys(OTHER_FILES)) {
    const own = sources.filter(({ path }) => path.startsWith(room));
    expect(own.some(({ imports }) => imports.some((name) => NODE_FS.has(name)))).toBe(true);
  }
});

test('who handles both kinds of files says which is which', () => {
  const sources = sourcesBelow('src/node').filter(({ path }) => !isTest(path));
  const using = (room: string) => sources.filter(({ imports }) => imports.some((name) => name.includes(room)));
  expect(using('base/files-inside/').length).toBeGreaterThan(8);
  expect(using('base/own-files/').length).toBeGreaterThan(8);
});

test.each([
  ['src/node/volumes/x.ts', "import { readFile } from 'node:fs/promises';", 1],
  ['src/node/volumes/x.ts', "import type { Stats } from 'node:fs';", 1],
  ['src/node/images/unpack/x.ts', "const { mkdir } = await import('node:fs/promises');", 1],
  ['src/node/process/x.ts', "import * as fs from 'fs';", 1],
  ['src/node/logs/x.ts', "export { rm } from 'node:fs/promises';", 1],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code under test
  ['src/node/volumes/x.ts', 'const path = `/proc/${process.pid}/fd/3`;', 1],
  ['src/node/volumes/x.ts', "import { readInside } from '../../base/files-inside/read-inside.ts';", 0],
  ['src/node/volumes/x.ts', "import { readFile } from '../../base/own-files/own-files.ts';", 0],
  ['src/node/cgroups/x.ts', "import { readFileSync } from 'node:fs';", 0],
])('%s: %s', (path, text, findings) => {
  expect(violations({ path, ...analyse(text) })).toHaveLength(findings);
});

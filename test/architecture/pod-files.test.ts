/**
 * Forbids paths under the control of a pod, an image or a volume with the rights of the node. Rooms of a node that
 * handle such paths reach files through `base/files/inside/`, and other files through `base/files/own/`: an import says
 * which.
 */
import { expect, test } from 'vitest';
import { analyse, isTest, type Source, sourcesBelow } from './source.ts';

const NODE_FS = new Set(['fs', 'fs/promises', 'node:fs', 'node:fs/promises']);

const KEPT = 'records, pipes and logs, in directories that no container sees';
const below = (room: string, files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).map(([name, what]) => [`${room}${name}`, what]));

/** Rooms and files that use no paths of pods, with the paths that they use. */
const OTHER_FILES: Readonly<Record<string, string>> = {
  'src/node/agent/static/': 'manifests of static pods, in a directory of the administrator',
  'src/node/cgroups/': 'cgroups, which the kernel makes',
  'src/node/containerd/':
    'configuration, sockets and archives of a container engine, which handles the files of pods itself',
  'src/node/images/archive/': 'archives that the user of `qd image` names',
  'src/node/images/build/': 'files that the user of `qd image` names',
  'src/node/machine/': 'what the kernel says about the machine',
  ...below('src/node/process/keeper/', {
    'choose-executor.ts': 'the directory with which it tries an executor',
    'command.ts': KEPT,
    'end-unknown.ts': KEPT,
    'engine.ts': KEPT,
    'files.ts': KEPT,
    'keeper.ts': KEPT,
    'kept-container.ts': KEPT,
    'kept-sandbox.ts': `${KEPT}; files in /etc of a pod, before the pod has processes`,
    'machine.ts': 'what the kernel says about the machine',
    'oci/layers.ts': 'the directories of a layer, before the container has processes',
    'oci/oci-executor.ts': `${KEPT}; devices of the node that the runtime is told to pass on`,
    'oci/oci-runtime.ts': KEPT,
    'oci/pinned-namespaces.ts': 'files that stand for namespaces, which no container sees',
    'oci/own-devices.ts': 'the devices that every container gets a copy of',
    'oci/volume-sources.ts': 'whether a path is there, and what it is mounted on: nothing is opened',
    'plain/plain-executor.ts': 'the script that starts processes',
    'streams/fifo.ts': KEPT,
    'streams/output.ts': 'logs, in the directory of the agent',
    'streams/spare-fifos.ts': KEPT,
    'streams/terminal.ts': KEPT,
    'supervisor/pid-file.ts': KEPT,
    'supervisor/supervisor.ts': KEPT,
  }),
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

test('imports tell which files of a room are controlled by pods', () => {
  const sources = sourcesBelow('src/node').filter(({ path }) => !isTest(path));
  const using = (room: string) => sources.filter(({ imports }) => imports.some((name) => name.includes(room)));
  expect(using('base/files/inside/').length).toBeGreaterThan(8);
  expect(using('base/files/own/').length).toBeGreaterThan(8);
});

test.each([
  ['src/node/volumes/x.ts', "import { readFile } from 'node:fs/promises';", 1],
  ['src/node/volumes/x.ts', "import type { Stats } from 'node:fs';", 1],
  ['src/node/images/unpack/x.ts', "const { mkdir } = await import('node:fs/promises');", 1],
  ['src/node/process/x.ts', "import * as fs from 'fs';", 1],
  ['src/node/logs/x.ts', "export { rm } from 'node:fs/promises';", 1],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code under test
  ['src/node/volumes/x.ts', 'const path = `/proc/${process.pid}/fd/3`;', 1],
  ['src/node/volumes/x.ts', "import { readInside } from '../../base/files/inside/read-inside.ts';", 0],
  ['src/node/volumes/x.ts', "import { readFile } from '../../base/files/own/own-files.ts';", 0],
  ['src/node/cgroups/x.ts', "import { readFileSync } from 'node:fs';", 0],
])('%s: %s', (path, text, findings) => {
  expect(violations({ path, ...analyse(text) })).toHaveLength(findings);
});

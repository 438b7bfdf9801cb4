import { cp, mkdir, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { leaveOriginal, type NodeFile, nodeDirectory, nodesIn, readNodeFile, writeNodeFile } from './node-file.ts';

const FILE: NodeFile = {
  ...{ runtime: 'process', endpoint: undefined, name: 'qd12345678', podCIDRs: ['10.0.0.0/24'] },
  registries: { mirrors: {}, insecure: [] },
};

let home: string;
let original: string;
beforeEach(async () => {
  home = temporaryDirectory();
  original = join(home, 'original');
  await mkdir(original);
  const directory = await nodeDirectory(original, 'node-1');
  await writeNodeFile(directory, FILE);
  for (const name of ['process', 'containerd', 'images']) {
    await mkdir(join(directory, name));
    await writeFile(join(directory, name, 'record'), '');
  }
});

const copied = async () => {
  const copy = join(home, 'copy');
  await cp(original, copy, { recursive: true });
  return copy;
};
const there = async (path: string) => (await stat(path).catch(() => undefined)) !== undefined;

test('a node is found again, also through a link, and in a directory that was moved', async () => {
  expect((await nodesIn(original)).map(({ directory, file }) => [basename(directory), file])).toEqual([
    ['node-1', FILE],
  ]);
  await symlink(original, join(home, 'link'));
  expect(await nodesIn(join(home, 'link'))).toHaveLength(1);
  await rename(original, join(home, 'moved'));
  expect(await nodesIn(join(home, 'moved'))).toHaveLength(1);
});

test('a copy has none of the nodes of its original: what their files name on this machine is that of the original', async () => {
  const copy = await copied();
  expect(await nodesIn(copy)).toEqual([]);
  expect(await nodesIn(original)).toHaveLength(1);
});

test('a copy that is started keeps the images, and no record of pods that the original runs', async () => {
  const copy = await copied();
  const directory = await nodeDirectory(copy, 'node-1');
  await leaveOriginal(directory);
  const left = await Promise.all(['process', 'containerd', 'images'].map((name) => there(join(directory, name))));
  expect(left).toEqual([false, false, true]);
  await writeNodeFile(directory, { ...FILE, name: 'qd87654321' });
  expect(await readNodeFile(directory)).toMatchObject({ name: 'qd87654321' });
});

test('an original, and a directory that was moved, keep all that they have', async () => {
  const moved = join(home, 'moved');
  for (const data of [original, moved]) {
    if (data === moved) await rename(original, moved);
    const directory = await nodeDirectory(data, 'node-1');
    await leaveOriginal(directory);
    expect(await there(join(directory, 'process', 'record'))).toBe(true);
    expect(await readNodeFile(directory)).toEqual(FILE);
  }
});

import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import type { Settings } from '../flags.ts';
import { openDirectory, otherClusters } from './directory.ts';

const settings = {
  bindAddress: '127.0.0.1',
  port: 6500,
  store: 'embedded',
  serviceClusterIpRange: '10.96.0.0/16',
  serviceNodePortRange: { first: 30_000, last: 32_767 },
} as Settings;
let home: string;
beforeEach(() => {
  home = temporaryDirectory();
});

test('only its owner can read a new directory, which remembers settings', async () => {
  const path = join(home, 'one');
  const first = await openDirectory(path);
  expect(first).toMatchObject({ isNew: true, remembered: {} });
  expect(await readdir(home)).toEqual([]);
  await first.create();
  expect((await stat(path)).mode & 0o077).toBe(0);
  await first.remember({ ...settings, anonymousAuth: true });
  await first.release();
  const second = await openDirectory(path);
  expect(second).toMatchObject({ isNew: false, remembered: settings });
  await second.release();
});

test('a directory that the user created for the cluster becomes private, also with what a restore or a file system left in it', async () => {
  for (const [name, files] of [
    ['empty', []],
    ['restored', ['pki', 'store', 'encryption.key', 'store.before-2030-01-01T00-00-00-000Z', 'lock.12.1']],
    ['mounted', ['lost+found']],
  ] as const) {
    const path = join(home, name);
    await mkdir(path);
    await chmod(path, 0o755);
    for (const file of files) await writeFile(join(path, file), '');
    const directory = await openDirectory(path);
    await directory.create();
    expect((await stat(path)).mode & 0o777, name).toBe(0o700);
    await directory.release();
  }
});

test('a directory with files of something else is rejected and left as it is', async () => {
  const path = join(home, 'mine');
  await mkdir(path);
  await chmod(path, 0o755);
  for (const file of ['notes.txt', 'store', 'a', 'b', 'c']) await writeFile(join(path, file), file);
  await expect(openDirectory(path)).rejects.toThrow(
    `${path} is not empty and is not the data directory of a cluster (it has a, b, c and 1 more); choose another`,
  );
  expect((await readdir(path)).sort()).toEqual(['a', 'b', 'c', 'notes.txt', 'store']);
  expect((await stat(path)).mode & 0o777).toBe(0o755);
});

test.each(['file', 'file/below'])('a path that is not a directory is rejected: %s', async (name) => {
  await writeFile(join(home, 'file'), '');
  await expect(openDirectory(join(home, name))).rejects.toThrow('is not a directory');
});

test('of a start that fails early, nothing remains', async () => {
  const directory = await openDirectory(join(home, 'a', 'b', 'c'));
  await directory.create();
  await directory.release();
  expect(await readdir(home)).toEqual([]);
  const kept = await openDirectory(join(home, 'a', 'b', 'c'));
  await kept.create();
  await writeFile(join(home, 'a', 'b', 'note'), '');
  await kept.release();
  expect(await readdir(join(home, 'a', 'b'))).toEqual(['note']);
});

test('a directory that another process creates meanwhile is not taken over', async () => {
  const path = join(home, 'one');
  const [first, second] = [await openDirectory(path), await openDirectory(path)];
  await first.create();
  await expect(second.create()).rejects.toThrow('is in use');
  await first.remember(settings);
  await first.release();
  await expect(second.create()).rejects.toThrow('start again');
  await second.release();
});

test('a directory of a newer format is left alone', async () => {
  const file = join(home, 'cluster.json');
  await writeFile(file, '{"format":2,"shape":"unknown"}');
  await expect(openDirectory(home)).rejects.toThrow('format 2, and this qd supports 1');
  expect(await readFile(file, 'utf8')).toBe('{"format":2,"shape":"unknown"}');
  await expect(openDirectory(home)).rejects.toThrow('format 2'); // The lock was let go.
});

test.each([
  ['{"port":', 'is not valid JSON'],
  ['{"port":1}', 'has no format'],
  ['null', 'has no format'],
])('a file that says %s is named', async (content, message) => {
  await writeFile(join(home, 'cluster.json'), content);
  await expect(openDirectory(home)).rejects.toThrow(message);
});

test('finds the other clusters of a home, and ignores other files', async () => {
  const one = await openDirectory(join(home, 'one'));
  await one.create();
  await one.remember(settings);
  await writeFile(join(home, 'note.txt'), 'hello');
  expect(await otherClusters(home, join(home, 'two'))).toMatchObject([{ port: 6500 }]);
  expect(await otherClusters(home, join(home, 'one'))).toEqual([]);
  expect(await otherClusters(join(home, 'nowhere'), join(home, 'one'))).toEqual([]);
  await one.release();
});

import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
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
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'qd-directory-'));
});
afterEach(() => rm(home, { recursive: true }));

test('only its owner can read a new directory, which remembers settings', async () => {
  const path = join(home, 'one');
  const first = await openDirectory(path);
  expect(first).toMatchObject({ isNew: true, remembered: {} });
  expect((await stat(path)).mode & 0o077).toBe(0);
  await first.remember({ ...settings, anonymousAuth: true });
  await first.release();
  const second = await openDirectory(path);
  expect(second).toMatchObject({ isNew: false, remembered: settings });
  await second.release();
});

test('a directory created for the cluster becomes private, and one with other files is left alone', async () => {
  for (const [path, more, mode] of [
    [join(home, 'empty'), undefined, 0o700],
    [join(home, 'shared'), 'notes.txt', 0o755],
  ] as const) {
    await mkdir(path);
    await chmod(path, 0o755);
    if (more) await writeFile(join(path, more), '');
    const directory = await openDirectory(path);
    expect((await stat(path)).mode & 0o777).toBe(mode);
    await directory.release();
  }
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
  await one.remember(settings);
  await writeFile(join(home, 'note.txt'), 'hello');
  expect(await otherClusters(home, join(home, 'two'))).toMatchObject([{ port: 6500 }]);
  expect(await otherClusters(home, join(home, 'one'))).toEqual([]);
  expect(await otherClusters(join(home, 'nowhere'), join(home, 'one'))).toEqual([]);
  await one.release();
});

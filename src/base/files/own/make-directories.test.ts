import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { makeDirectories } from './make-directories.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryDirectory();
});

test('creates missing directories, and returns the topmost new one', async () => {
  expect(await makeDirectories(join(folder, 'a', 'b', 'c'), 0o700)).toBe(join(folder, 'a'));
  for (const path of ['a', 'a/b', 'a/b/c']) expect((await stat(join(folder, path))).mode & 0o777).toBe(0o700);
  expect(await makeDirectories(join(folder, 'a', 'b', 'd'))).toBe(join(folder, 'a', 'b', 'd'));
  expect(await readdir(join(folder, 'a', 'b'))).toEqual(['c', 'd']);
  expect(await makeDirectories(join(folder, 'a', 'b'))).toBeUndefined();
  expect(await makeDirectories('/')).toBeUndefined();
});

test.each([
  ['file', 'EEXIST'],
  ['file/below', 'ENOTDIR'],
  ['file/below/that', 'ENOTDIR'],
])('rejects a path through a file: %s', async (path, code) => {
  await writeFile(join(folder, 'file'), '');
  await expect(makeDirectories(join(folder, path))).rejects.toMatchObject({ code });
});

test.skipIf(process.platform !== 'linux')('fails where no directory can be created', async () => {
  await expect(makeDirectories('/proc/x')).rejects.toThrow('/proc/x cannot be created: /proc takes no directories');
  await expect(makeDirectories('/proc/x/y')).rejects.toThrow('/proc/x cannot be created: /proc takes no directories');
});

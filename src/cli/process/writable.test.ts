import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { checkWritableDirectory, checkWritableFile } from './writable.ts';

let folder: string;
beforeEach(async () => {
  folder = temporaryDirectory();
  await writeFile(join(folder, 'file'), '');
  await mkdir(join(folder, 'directory'));
});
afterEach(async () => {
  await chmod(join(folder, 'directory'), 0o700);
});

test.each([
  ['file', undefined, 'it is not a directory'],
  ['directory', 'it is a directory', undefined],
  ['new', undefined, undefined],
  ['new/below/this', undefined, undefined],
  ['file/below', 'file is not a directory', 'file is not a directory'],
])('%s: as a file %s, as a directory %s', async (name, asFile, asDirectory) => {
  const path = join(folder, name);
  for (const [check, why] of [
    [checkWritableFile, asFile],
    [checkWritableDirectory, asDirectory],
  ] as const) {
    const checked = check('--flag', path);
    if (why === undefined) await expect(checked).resolves.toBeUndefined();
    else await expect(checked).rejects.toThrow(new RegExp(`^--flag ${path} cannot be written: .*${why}$`));
  }
  expect((await readdir(folder)).sort()).toEqual(['directory', 'file']);
});

// Root may write anywhere.
test.skipIf(process.getuid?.() === 0)('a folder without permission to write', async () => {
  await chmod(join(folder, 'directory'), 0o500);
  await expect(checkWritableFile('--flag', join(folder, 'directory', 'new'))).rejects.toThrow('no permission to write');
});

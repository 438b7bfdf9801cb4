import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { findElsewhere, forgetElsewhere, rememberElsewhere } from './elsewhere.ts';

let scratch: string;
let home: string;
beforeEach(async () => {
  scratch = temporaryDirectory();
  home = join(scratch, 'home');
});

const newDirectory = async (name: string) => {
  const path = join(scratch, name);
  await mkdir(path);
  return path;
};

test('directories outside the home are remembered once, until they are forgotten', async () => {
  const [b, a] = [await newDirectory('b'), await newDirectory('a')];
  for (const directory of [b, a, a]) await rememberElsewhere(home, directory);
  expect(await findElsewhere(home)).toEqual([a, b]);
  await forgetElsewhere(home, a);
  expect(await findElsewhere(home)).toEqual([b]);
});

test('directories in the home need no memory', async () => {
  await rememberElsewhere(home, join(home, 'dev'));
  expect(await findElsewhere(home)).toEqual([]);
  expect(await readdir(scratch)).toEqual([]);
});

test('what is gone is forgotten with the next that is remembered, so that test runs leave no heap of links', async () => {
  for (let round = 0; round < 5; round++) {
    const directory = await newDirectory('short-lived');
    await rememberElsewhere(home, directory);
    await rm(directory, { recursive: true });
    await rememberElsewhere(home, await newDirectory(`kept-${round}`));
    expect(await readdir(join(home, '.elsewhere'))).toHaveLength(round + 1);
  }
});

test('other files among the links are left alone', async () => {
  await rememberElsewhere(home, await newDirectory('a'));
  await writeFile(join(home, '.elsewhere', 'note'), '');
  expect(await findElsewhere(home)).toEqual([join(scratch, 'a')]);
  expect(await readdir(join(home, '.elsewhere'))).toContain('note');
});

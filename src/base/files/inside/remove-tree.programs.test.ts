import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { removeTree } from './remove-tree.ts';

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});

it('removes a directory with everything in it, and does not follow links', async () => {
  const [tree, outside] = [join(directory, 'tree'), join(directory, 'outside')];
  await mkdir(outside);
  await writeFile(join(outside, 'kept'), 'x');
  await mkdir(join(tree, 'a/b/c'), { recursive: true });
  for (let i = 0; i < 100; i++) await writeFile(join(tree, 'a', `f${i}`), '');
  for (let i = 0; i < 1_100; i++) await mkdir(join(tree, `d${i}`));
  await symlink(outside, join(tree, 'link'));
  await symlink('nowhere', join(tree, 'a/b/broken'));
  await removeTree(tree);
  expect(existsSync(tree)).toBe(false);
  expect(await readFile(join(outside, 'kept'), 'utf8')).toBe('x');
});

it('removes a file or a link itself, and succeeds when there is none', async () => {
  const [file, link] = [join(directory, 'file'), join(directory, 'link')];
  await writeFile(file, 'x');
  await symlink(file, link);
  await removeTree(link);
  expect(existsSync(file)).toBe(true);
  await removeTree(file);
  expect(existsSync(file)).toBe(false);
  await removeTree(file);
});

it('lets other work run between the files', async () => {
  const count = 2_000;
  for (let i = 0; i < count; i++) await writeFile(join(directory, `f${i}`), '');
  let turns = 0;
  const counting = () => {
    turns++;
    counter = setImmediate(counting);
  };
  let counter = setImmediate(counting);
  await removeTree(directory);
  clearImmediate(counter);
  expect(turns).toBeGreaterThan(count / 4);
});

it('removes trees nested deeper than a path can express', async () => {
  const tree = join(directory, 'tree');
  // Builds a path of 6,000 bytes, with two directories on each level.
  await mkdir(tree);
  const script = `for (let i = 0; i < 600; i++) { fs.mkdirSync('aaaaaaaaa'); fs.mkdirSync('b'); process.chdir('aaaaaaaaa'); }`;
  execFileSync(process.execPath, ['-e', script], { cwd: tree });
  await removeTree(tree);
  expect(existsSync(tree)).toBe(false);
});

it('does not remove files elsewhere when a directory is swapped for a link', async () => {
  const [tree, outside, aside, link] = ['tree', 'outside', 'aside', 'link'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
    string,
  ];
  const names = Array.from({ length: 300 }, (_, index) => `f${index}`);
  await mkdir(join(tree, 'a'), { recursive: true });
  await mkdir(outside);
  for (const name of names) {
    await writeFile(join(tree, 'a', name), '');
    await writeFile(join(outside, name), '');
  }
  await symlink(outside, link);
  const exchange = async () => {
    while ((await readdir(join(tree, 'a'))).length === names.length);
    await rename(join(tree, 'a'), aside);
    await rename(link, join(tree, 'a'));
  };
  await Promise.all([exchange(), removeTree(tree)]);
  expect(await readdir(outside)).toHaveLength(names.length);
  expect(existsSync(tree)).toBe(false);
});

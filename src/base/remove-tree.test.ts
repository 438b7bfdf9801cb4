import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { removeTree } from './remove-tree.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'qd-remove-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

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

it('removes a file or a link itself, and nothing that is not there', async () => {
  const [file, link] = [join(directory, 'file'), join(directory, 'link')];
  await writeFile(file, 'x');
  await symlink(file, link);
  await removeTree(link);
  expect(existsSync(file)).toBe(true);
  await removeTree(file);
  expect(existsSync(file)).toBe(false);
  await removeTree(file);
});

it('leaves the event loop to others between the files', async () => {
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

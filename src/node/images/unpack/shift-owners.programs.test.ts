import { chmodSync, chownSync, lchownSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scratchDirectories } from '../../../../test/support/store-directories.ts';
import { shiftOwners } from './shift-owners.ts';

const directory = await scratchDirectories();
const BASE = 2 ** 30;
const isRoot = process.getuid?.() === 0;

it.skipIf(!isRoot)('everything gets its owner of the range, keeps its mode, and links are not followed', async () => {
  const at = directory();
  mkdirSync(at, { recursive: true });
  const outside = join(at, 'outside');
  writeFileSync(outside, '');
  const root = join(at, 'root');
  mkdirSync(join(root, 'etc'), { recursive: true });
  const names = ['plain', 'shadow', 'with space', 'with\nline', '-R', 'setuid', 'setgid other'];
  for (const name of names) writeFileSync(join(root, 'etc', name), '');
  chownSync(join(root, 'etc', 'shadow'), 0, 42);
  chownSync(join(root, 'etc', 'setgid other'), 7, 8);
  chmodSync(join(root, 'etc', 'setuid'), 0o4755);
  chmodSync(join(root, 'etc', 'setgid other'), 0o2711);
  symlinkSync(outside, join(root, 'link'));
  lchownSync(join(root, 'link'), 5, 6);
  symlinkSync('/', join(root, 'etc', 'slash'));

  await shiftOwners(root, BASE);

  const found = (...path: string[]) => {
    const { uid, gid, mode } = lstatSync(join(root, ...path));
    return [uid - BASE, gid - BASE, (mode & 0o7777).toString(8)];
  };
  expect(found()).toEqual([0, 0, '755']);
  expect(found('etc')).toEqual([0, 0, '755']);
  for (const name of ['plain', 'with space', 'with\nline', '-R']) expect(found('etc', name)).toEqual([0, 0, '644']);
  expect(found('etc', 'shadow')).toEqual([0, 42, '644']);
  expect(found('etc', 'setuid')).toEqual([0, 0, '4755']);
  expect(found('etc', 'setgid other')).toEqual([7, 8, '2711']);
  expect(found('link').slice(0, 2)).toEqual([5, 6]);
  expect(lstatSync(outside).uid).toBe(0);
  expect(lstatSync('/').uid).toBe(0);
});

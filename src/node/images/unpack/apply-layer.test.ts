import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { type TarInput, writeTar } from '../tar/write-tar.ts';
import { applyDeletions, applyLayer } from './apply-layer.ts';
import { copyTree } from './copy-tree.ts';

let outside: string;
let root: string;
beforeEach(() => {
  outside = temporaryDirectory();
  root = join(outside, 'root');
  mkdirSync(root);
});
const isRoot = process.getuid?.() === 0;
const options = { setsOwners: isRoot };
const file = (path: string, text = path, more: Partial<TarInput> = {}): TarInput => ({
  type: 'file',
  path,
  size: Buffer.byteLength(text),
  content: [Buffer.from(text)],
  ...more,
});
const directory = (path: string, more: Partial<TarInput> = {}): TarInput => ({
  type: 'directory',
  path,
  size: 0,
  ...more,
});
const symlink = (path: string, linkTarget: string): TarInput => ({ type: 'symlink', path, size: 0, linkTarget });
const hardlink = (path: string, linkTarget: string): TarInput => ({ type: 'hardlink', path, size: 0, linkTarget });

async function apply(...entries: TarInput[]): Promise<number> {
  await applyDeletions(root, writeTar(entries));
  return applyLayer(root, writeTar(entries), options);
}
const text = (path: string) => readFileSync(join(root, path), 'utf8');

test('files, directories and links are made, with modes and times', async () => {
  const bytes = await apply(
    directory('etc', { mode: 0o711 }),
    file('etc/a', 'hello', { mode: 0o640, mtime: 1_000_000 }),
    file('missing/parent/b'),
    symlink('etc/s', '../nowhere'),
    hardlink('etc/h', 'etc/a'),
  );
  expect(bytes).toBe(5 + 'missing/parent/b'.length);
  expect(lstatSync(join(root, 'etc')).mode & 0o777).toBe(0o711);
  expect(lstatSync(join(root, 'etc/a'))).toMatchObject({ mtimeMs: 1_000_000_000, nlink: 2 });
  expect(lstatSync(join(root, 'etc/a')).mode & 0o777).toBe(0o640);
  expect(text('etc/h')).toBe('hello');
  expect(readlinkSync(join(root, 'etc/s'))).toBe('../nowhere');
  expect(text('missing/parent/b')).toBe('missing/parent/b');
});

test('a later layer replaces files, and keeps directories', async () => {
  await apply(
    directory('d'),
    file('d/a', 'old'),
    file('d/b'),
    file('was-file'),
    directory('was-directory'),
    file('was-directory/x'),
  );
  await apply(directory('d'), file('d/a', 'new'), directory('was-file'), file('was-directory', 'file'));
  expect(text('d/a')).toBe('new');
  expect(text('d/b')).toBe('d/b');
  expect(lstatSync(join(root, 'was-file')).isDirectory()).toBe(true);
  expect(text('was-directory')).toBe('file');
});

test('a whiteout deletes what lower layers have, wherever it stands in its own', async () => {
  await apply(file('d/gone'), file('d/replaced', 'old'), file('whole/tree/x'), file('kept'));
  await apply(
    file('d/replaced', 'new'),
    file('d/.wh.gone', ''),
    file('d/.wh.replaced', ''),
    file('.wh.whole', ''),
    file('.wh.never', ''),
  );
  expect(readdirSync(join(root, 'd'))).toEqual(['replaced']);
  expect(text('d/replaced')).toBe('new');
  expect(readdirSync(root).sort()).toEqual(['d', 'kept']);
});

test('an opaque directory hides what lower layers have in it', async () => {
  await apply(file('d/old'), file('d/deep/old'));
  await apply(file('d/new'), file('d/.wh..wh..opq', ''), file('d/.wh..wh.plnk', ''));
  expect(readdirSync(join(root, 'd'))).toEqual(['new']);
});

test.each(['.wh...', '.wh..', '.wh.'])('%s deletes nothing', async (name) => {
  writeFileSync(join(outside, 'precious'), '');
  await expect(apply(file(`d/${name}`, ''))).rejects.toThrow('is not a name');
  expect(readdirSync(outside).sort()).toEqual(['precious', 'root']);
});

test.each([
  ['a path with ..', [file('../../escaped')]],
  ['an absolute path', [file('/escaped')]],
  ['an absolute link', [symlink('l', '/'), file('l/escaped')]],
  ['a relative link', [symlink('d/l', '../../..'), file('d/l/escaped')]],
  ['a chain of links', [symlink('a', '..'), symlink('b', 'a/../..'), file('b/escaped')]],
])('%s does not lead out', async (_, entries) => {
  await apply(...entries);
  expect(readdirSync(outside)).toEqual(['root']);
  expect(readdirSync(root)).toContain('escaped');
  expect(existsSync('/escaped')).toBe(false);
});

test('a link is replaced, not written through', async () => {
  writeFileSync(join(outside, 'precious'), 'mine');
  await apply(symlink('f', join(outside, 'precious')));
  await apply(file('f', 'theirs'));
  expect(readFileSync(join(outside, 'precious'), 'utf8')).toBe('mine');
  expect(text('f')).toBe('theirs');
});

test('a directory over a link to elsewhere does not change that', async () => {
  mkdirSync(join(outside, 'precious'), { mode: 0o700 });
  await apply(symlink('d', join(outside, 'precious')));
  await apply(directory('d', { mode: 0o777 }));
  expect(lstatSync(join(outside, 'precious')).mode & 0o777).toBe(0o700);
  expect(lstatSync(join(root, 'd')).isDirectory()).toBe(true);
});

test('a hard link cannot reach a file outside', async () => {
  writeFileSync(join(outside, 'precious'), 'mine');
  await expect(apply(hardlink('l', '../precious'))).rejects.toThrow();
  await expect(apply(symlink('up', '..'), hardlink('l', 'up/precious'))).rejects.toThrow();
  expect(lstatSync(join(outside, 'precious')).nlink).toBe(1);
});

test('a whiteout does not delete through a link', async () => {
  mkdirSync(join(outside, 'precious'));
  writeFileSync(join(outside, 'precious/x'), '');
  await apply(symlink('d', join(outside, 'precious')));
  await apply(file('d/.wh.x', ''), file('d/.wh..wh..opq', ''));
  expect(existsSync(join(outside, 'precious/x'))).toBe(true);
});

test('links that lead in a circle are an error', async () => {
  await expect(apply(symlink('a', 'b'), symlink('b', 'a'), file('a/x'))).rejects.toThrow('too many links');
});

test('the files of a directory behind a link go where it leads', async () => {
  await apply(directory('usr/lib'), symlink('lib', 'usr/lib'), file('lib/x'));
  await apply(file('lib/y'));
  expect(readdirSync(join(root, 'usr/lib')).sort()).toEqual(['x', 'y']);
});

test('devices and pipes are left out', async () => {
  await apply({ type: 'character', path: 'null', size: 0 }, { type: 'fifo', path: 'pipe', size: 0 }, file('f'));
  expect(readdirSync(root)).toEqual(['f']);
});

test.runIf(isRoot)('root sets owners, and setuid survives that', async () => {
  await apply(directory('d', { uid: 5, gid: 6 }), file('d/su', 'x', { uid: 7, gid: 8, mode: 0o4755 }), {
    ...symlink('s', 'x'),
    uid: 9,
  });
  expect(lstatSync(join(root, 'd'))).toMatchObject({ uid: 5, gid: 6 });
  expect(lstatSync(join(root, 'd/su'))).toMatchObject({ uid: 7, gid: 8 });
  expect(lstatSync(join(root, 'd/su')).mode & 0o7777).toBe(0o4755);
  expect(lstatSync(join(root, 's')).uid).toBe(9);
});

test('nothing is setuid without root, and directories stay usable', async () => {
  await applyLayer(root, writeTar([directory('d', { mode: 0o555 }), file('d/su', 'x', { mode: 0o6755 })]), {
    setsOwners: false,
  });
  expect(lstatSync(join(root, 'd/su')).mode & 0o7777).toBe(0o755);
  expect(lstatSync(join(root, 'd')).mode & 0o777).toBe(0o755);
});

test('a copy has everything that the original has', async () => {
  await apply(
    directory('d', { mode: 0o1777 }),
    file('d/su', 'x', { uid: 7, mode: 0o4755, mtime: 77 }),
    symlink('s', '/etc'),
  );
  const copy = join(outside, 'copy');
  await copyTree(root, copy, options);
  const su = lstatSync(join(copy, 'd/su'));
  expect(su).toMatchObject({
    uid: lstatSync(join(root, 'd/su')).uid,
    mode: lstatSync(join(root, 'd/su')).mode,
    mtimeMs: 77_000,
  });
  expect(lstatSync(join(copy, 'd')).mode).toBe(lstatSync(join(root, 'd')).mode);
  expect(readlinkSync(join(copy, 's'))).toBe('/etc');
});

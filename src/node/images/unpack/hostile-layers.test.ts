/** Tests layers of images that try to escape from their root. */
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { type TarInput, writeTar } from '../tar/write-tar.ts';
import { applyDeletions, applyLayer } from './apply-layer.ts';

let outside: string;
let root: string;
let precious: string;
beforeEach(() => {
  outside = temporaryDirectory();
  root = join(outside, 'root');
  precious = join(outside, 'precious');
  mkdirSync(root);
  mkdirSync(precious, { mode: 0o700 });
  writeFileSync(join(precious, 'key'), 'mine', { mode: 0o600 });
});
const isRoot = process.getuid?.() === 0;
const file = (path: string, more: Partial<TarInput> = {}): TarInput => ({
  ...{ type: 'file', path, size: 6, content: [Buffer.from('theirs')] },
  ...more,
});
const entry = (type: TarInput['type'], path: string, linkTarget = ''): TarInput => ({
  type,
  path,
  size: 0,
  linkTarget,
});

/** Applies layers, each of which is a list. */
async function apply(...layers: TarInput[][]): Promise<void> {
  for (const [index, entries] of layers.entries()) {
    if (index > 0) await applyDeletions(root, writeTar(entries));
    await applyLayer(root, writeTar(entries), { setsOwners: isRoot });
  }
}

function expectUntouched(): void {
  expect(readdirSync(outside).sort()).toEqual(['precious', 'root']);
  expect(readdirSync(precious)).toEqual(['key']);
  expect(readFileSync(join(precious, 'key'), 'utf8')).toBe('mine');
  expect(lstatSync(join(precious, 'key'))).toMatchObject({ nlink: 1, mode: 0o100600 });
  expect(lstatSync(precious).mode & 0o7777).toBe(0o700);
}

const WAYS_OUT: readonly (readonly [string, (to: string) => string])[] = [
  ['an absolute link', (to) => to],
  ['a relative link', (to) => `..${to.slice(outside.length)}`],
  ['a link of the kernel', () => '/proc/self/root'],
];

test.each(WAYS_OUT)('nothing is written, linked or deleted through %s of the same layer', async (_, target) => {
  const link = entry('symlink', 'way', target(precious));
  for (const entries of [
    [file('way/key'), file('way/new')],
    [entry('directory', 'way/made'), file('way/made/x')],
    [entry('symlink', 'way/l', 'x')],
    [{ ...entry('directory', 'way/.'), mode: 0o777 }],
  ]) {
    rmSync(root, { recursive: true });
    mkdirSync(root);
    await apply([link, ...entries]);
    expectUntouched();
  }
  await expect(apply([link, entry('hardlink', 'copy', 'way/key')])).rejects.toThrow('which is not a file');
  expectUntouched();
});

test.each(WAYS_OUT)('nothing is written or deleted through %s of an earlier layer', async (_, target) => {
  const link = entry('symlink', 'way', target(precious));
  for (const path of ['way/key', 'way/.wh.key', 'way/.wh..wh..opq', 'way/deep/.wh.x', '.wh.way']) {
    rmSync(root, { recursive: true });
    mkdirSync(root);
    await apply([link], [file(path)]);
    expectUntouched();
  }
});

test.each(['../precious/key', '../../key', 'a/../../precious/key', '.././../key', '/precious/key'])(
  'the path %s is one inside',
  async (path) => {
    await apply([file(path), { ...entry('directory', `${path}-directory`), mode: 0o777 }]);
    await apply([], [file(path.replace('key', '.wh.key'))]);
    expectUntouched();
  },
);

test('a hard link to a link is that link, and not what it leads to', async () => {
  await apply([entry('symlink', 'link', join(precious, 'key')), entry('hardlink', 'copy', 'link')]);
  expect(readlinkSync(join(root, 'copy'))).toBe(join(precious, 'key'));
  // Written over, it is replaced.
  await apply([file('copy', { mode: 0o777 })]);
  expect(readFileSync(join(root, 'copy'), 'utf8')).toBe('theirs');
  expectUntouched();
});

test.each(['../precious/key', '/../precious/key', 'missing', '.', '..', '/', 'directory'])(
  'a hard link to %s is an error',
  async (target) => {
    await expect(apply([entry('directory', 'directory'), entry('hardlink', 'copy', target)])).rejects.toThrow(
      'which is not a file',
    );
    expectUntouched();
  },
);

test('a hard link to itself stays what it is', async () => {
  await apply([file('f'), entry('hardlink', 'f', 'f'), entry('hardlink', 'f', './x/../f')]);
  expect(readFileSync(join(root, 'f'), 'utf8')).toBe('theirs');
});

test('devices, pipes and sockets are not created, not even in the place of files', async () => {
  await apply([file('f')], [entry('character', 'f'), entry('block', 'disk'), entry('fifo', 'pipe')]);
  for (const name of readdirSync(root)) expect(lstatSync(join(root, name)).isFile()).toBe(true);
});

test.each([
  ['a name that is too long', [file('x'.repeat(300))]],
  ['a path that is too long', [file(`${'d/'.repeat(600)}x`)]],
  ['a root that is a file', [file('.')]],
  ['a root that is a link', [entry('symlink', '/', '/etc')]],
])('%s is an error', async (_, entries) => {
  await expect(apply(entries)).rejects.toThrow();
  expectUntouched();
});

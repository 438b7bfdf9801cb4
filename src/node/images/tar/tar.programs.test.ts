import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import type { EntryHeader } from './entry.ts';
import { decodePax } from './header.ts';
import { readTar } from './read-tar.ts';
import { type TarInput, writeTar } from './write-tar.ts';

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});
/** Yields chunks of this size, so that headers and contents are cut anywhere. */
async function* chunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(bytes: Buffer, chunkBytes = 100): Promise<(EntryHeader & { text: string })[]> {
  const found: (EntryHeader & { text: string })[] = [];
  for await (const { content, ...header } of readTar(chunks(bytes, chunkBytes))) {
    found.push({ ...header, text: await text(content) });
  }
  return found;
}

const write = (entries: TarInput[]): Promise<Buffer> => buffer(writeTar(entries));

const file = (path: string, text: string): TarInput => ({
  type: 'file',
  path,
  size: Buffer.byteLength(text),
  content: [Buffer.from(text)],
});

const LONG = `${'directory/'.repeat(30)}${'ü'.repeat(100)}`;

test.each([
  ['v7', 'short'],
  ['ustar', `${'directory/'.repeat(15)}file`],
  ['pax', LONG],
  ['gnu', LONG],
])('reads what tar writes with --format=%s', async (format, long) => {
  mkdirSync(join(directory, 'in', long, '..'), { recursive: true });
  writeFileSync(join(directory, 'in', long), 'content of the long one');
  writeFileSync(join(directory, 'in/empty'), '');
  symlinkSync('/etc/target', join(directory, 'in/link'));
  execFileSync('tar', [
    '-C',
    join(directory, 'in'),
    `--format=${format}`,
    '-cf',
    join(directory, 'x.tar'),
    long,
    'empty',
    'link',
  ]);
  const bytes = execFileSync('cat', [join(directory, 'x.tar')]);
  for (const size of [1, 511, 100_000]) {
    expect(await read(bytes, size)).toMatchObject([
      { type: 'file', path: long, text: 'content of the long one' },
      { type: 'file', path: 'empty', text: '' },
      { type: 'symlink', path: 'link', linkTarget: '/etc/target', size: 0 },
    ]);
  }
});

test('tar reads what it writes', async () => {
  const archive = join(directory, 'x.tar');
  writeFileSync(
    archive,
    await write([
      { type: 'directory', path: 'd', size: 0, mode: 0o700, uid: 3, gid: 4, mtime: 1_000_000 },
      file('d/f', 'hello'),
      file(LONG, 'long'),
      { type: 'symlink', path: 'd/s', size: 0, linkTarget: 'x'.repeat(300) },
      { type: 'hardlink', path: 'd/h', size: 0, linkTarget: 'd/f' },
    ]),
  );
  const listing = execFileSync('tar', ['--numeric-owner', '--utc', '-tvf', archive], {
    env: { LC_ALL: 'C.UTF-8' },
  }).toString();
  expect(listing.trim().split('\n')).toEqual([
    expect.stringMatching(/^drwx------ 3\/4 +0 1970-01-12 13:46 d\/$/),
    expect.stringMatching(/^-rw-r--r-- 0\/0 +5 1970-01-01 00:00 d\/f$/),
    expect.stringContaining(LONG),
    expect.stringContaining(`d/s -> ${'x'.repeat(300)}`),
    expect.stringContaining('d/h link to d/f'),
  ]);
});

test('an archive reads as it was written', async () => {
  const header = { mode: 0o4755, uid: 4_000_000_000, gid: 2 ** 33, mtime: 5, linkTarget: '' };
  const bytes = await write([{ ...file(LONG, 'x'), ...header }]);
  expect(await read(bytes)).toEqual([{ ...header, type: 'file', path: LONG, size: 1, text: 'x' }]);
});

test('content that is not read is skipped', async () => {
  const paths: string[] = [];
  const bytes = await write([file('a', 'x'.repeat(5000)), file('b', 'y')]);
  for await (const { path } of readTar(chunks(bytes, 700))) paths.push(path);
  expect(paths).toEqual(['a', 'b']);
});

test('an archive that is cut off is an error', async () => {
  const bytes = await write([file('a', 'x'.repeat(5000))]);
  await expect(read(bytes.subarray(0, 3000))).rejects.toThrow('ends too early');
});

test('an archive may end with the content of its last entry', async () => {
  const bytes = await write([file('a', 'x'), file('b', 'y'.repeat(700))]);
  const end = 512 + 512 + 512 + 700;
  const texts = async (length: number) => (await read(bytes.subarray(0, length))).map(({ text }) => text.length);
  expect(await texts(end)).toEqual([1, 700]);
  expect(await texts(end + 10)).toEqual([1, 700]);
  await expect(texts(end - 1)).rejects.toThrow('ends too early');
});

test('something else is an error', async () => {
  await expect(read(Buffer.alloc(2000, 'x'))).rejects.toThrow('not a tar archive');
});

test('a file that is larger or smaller than announced is an error', async () => {
  await expect(write([{ ...file('a', 'xyz'), size: 2 }])).rejects.toThrow('changed while it was read');
});

test('an extended header cannot fill the memory', async () => {
  const bytes = await write([{ ...file('a'.repeat(200), 'x') }]);
  bytes.write('77777777777', 124, 'latin1');
  const sum = [...bytes.subarray(0, 512)].reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  await expect(read(bytes)).rejects.toThrow('too large');
});

test('records that are not used are not kept, however many there are', () => {
  const record = (key: string, value: string) => {
    const rest = ` ${key}=${value}\n`;
    const length = rest.length + 2;
    return `${length}${rest}`;
  };
  const body = Buffer.from([record('path', 'a'), record('any.key', 'text'), record('mtime', '77')].join(''));
  expect([...decodePax(body)]).toEqual([
    ['path', 'a'],
    ['mtime', '77'],
  ]);
});

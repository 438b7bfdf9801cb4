import { deflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { BackupPart, HistoryRecord, SavedRow } from './content.ts';
import { BLOCK_HEAD_BYTES, BLOCK_KINDS, checksumOf, MAGIC, MAX_BLOCK_BYTES } from './format.ts';
import { readBackup } from './read.ts';
import { writeBackup } from './write.ts';

const about = {
  cluster: 'dev',
  release: { version: '0.3.0', level: 2 },
  store: 'embedded',
  revision: 40,
  time: 1_900_000_000_000,
  oldest: { revision: 7, time: 1_890_000_000_000 },
};
const files = { 'ca.key': 'secret', settings: '{}' };
const row = (key: string, value = key): SavedRow => ({ key, revision: 3, value: Buffer.from(value) });
const history: readonly HistoryRecord[] = [
  { type: 'earlier', row: row('/registry/a', 'older') },
  {
    type: 'change',
    change: {
      key: '/registry/a',
      revision: 8,
      replaced: 3,
      time: 1_890_000_000_001,
      origin: { user: 'jane' },
      value: Buffer.from('newer'),
    },
  },
  {
    type: 'change',
    change: { key: '/registry/ä', revision: 9, replaced: 8, time: 0, origin: undefined, value: null },
  },
];

async function* each<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items;
}

async function write(rows: Iterable<SavedRow> = [row('/registry/b'), row('/registry/c', '')]): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  const damaged = () => [{ key: '/registry/lost', revision: 5 }];
  for await (const chunk of writeBackup({ about, files, history: each(history), rows: each(rows), damaged })) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Reads a backup that comes in pieces of a few bytes. */
async function read(content: Buffer, piece = 1_000): Promise<BackupPart[]> {
  const pieces = Array.from({ length: Math.ceil(content.length / piece) }, (_, i) =>
    content.subarray(i * piece, (i + 1) * piece),
  );
  const parts: BackupPart[] = [];
  for await (const part of readBackup(each(pieces))) parts.push(part);
  return parts;
}

const damage = { name: 'BackupDamaged' };

describe('a backup', () => {
  test('is read as it was written, in pieces of any size', async () => {
    const content = await write();
    for (const piece of [1, 7, content.length]) {
      expect(await read(content, piece)).toEqual([
        { kind: 'about', about },
        { kind: 'files', files },
        { kind: 'changes', records: history },
        { kind: 'rows', rows: [row('/registry/b'), row('/registry/c', '')] },
        { kind: 'end', end: { rows: 2, changes: 3, damaged: [{ key: '/registry/lost', revision: 5 }] } },
      ]);
    }
  });

  test('has many blocks, and none much larger than the largest row', async () => {
    const rows = Array.from({ length: 1_000 }, (_, i) => row(`/registry/${i}`, `${i}`.repeat(1_000)));
    const parts = await read(await write(rows));
    const found = parts.flatMap((part) => (part.kind === 'rows' ? [part.rows.length] : []));
    expect(found.reduce((sum, count) => sum + count)).toBe(1_000);
    expect(found.length).toBeGreaterThan(5);
  });

  test('is rejected wherever it was cut off', async () => {
    const content = await write();
    for (let end = 0; end < content.length; end++) {
      await expect(read(content.subarray(0, end)), `${end}`).rejects.toMatchObject(damage);
    }
  });

  test('is rejected when any byte has changed', async () => {
    const content = await write();
    for (let at = 0; at < content.length; at++) {
      const changed = Buffer.from(content);
      changed[at]! ^= 1 << (at % 8);
      await expect(read(changed), `${at}`).rejects.toMatchObject(damage);
    }
  });

  test('is rejected when something follows it, and when blocks were exchanged', async () => {
    const rows = Array.from({ length: 400 }, (_, i) => row(`/registry/${i}`, 'x'.repeat(2_000)));
    const content = await write(rows);
    await expect(read(Buffer.concat([content, Buffer.from('x')]))).rejects.toThrow('something follows its end');
    const blocks = blocksOf(content);
    const [first, second] = blocks.flatMap(({ kind }, at) => (kind === 'rows' ? [at] : []));
    const exchanged = blocks.map(({ bytes }) => bytes);
    [exchanged[first!], exchanged[second!]] = [exchanged[second!]!, exchanged[first!]!];
    await expect(read(Buffer.concat([MAGIC, ...exchanged]))).rejects.toThrow('its digest does not match');
  });
});

describe('a hostile file', () => {
  test.each([
    ['nothing', Buffer.alloc(0), 'is not a backup'],
    ['something else', Buffer.from('age-encryption.org/v1\n'), 'is not a backup, or it is encrypted'],
    ['a newer format', Buffer.from('QDBACKUP\u0002', 'latin1'), 'use a newer qd'],
    ['a block of an unknown kind', withBlocks(headOf(9, 0, 0)), 'unknown kind 9'],
    ['a huge block', withBlocks(headOf(0, MAX_BLOCK_BYTES, 10)), 'has 134217728 bytes'],
    ['a block that is huge in the file', withBlocks(headOf(3, 10, 2 ** 32 - 1)), 'has 4294967295 bytes'],
    ['a bomb', withBlocks(blockOf('about', Buffer.alloc(1_000_000), 100)), 'cannot be decompressed'],
    ['no description', withBlocks(blockOf('files', '{}')), 'follows one of "nothing"'],
    ['a description that is a list', withBlocks(blockOf('about', '[]')), 'its description cannot be read'],
    [
      'a negative revision',
      withBlocks(blockOf('about', { ...about, revision: -1 })),
      'a revision is not a whole number',
    ],
    [
      'a revision without successors',
      withBlocks(blockOf('about', { ...about, revision: 2 ** 53 - 1 })),
      'at most 2^52',
    ],
    ['a file that is no text', withBlocks(described, blockOf('files', { a: 1 })), 'one of its files is not text'],
    ['a description twice', withBlocks(described, described), '"about" follows one of "about"'],
    ['a record without a key', withBlocks(described, filed, blockOf('rows', Buffer.alloc(37))), 'has no key'],
    ['a record that is too short', withBlocks(described, filed, blockOf('rows', Buffer.alloc(5))), 'has 5 bytes'],
    [
      'a record that is too long',
      withBlocks(described, filed, blockOf('rows', recordOf({ keyBytes: 100 }))),
      'longer than its block',
    ],
    [
      'a record with a huge number',
      withBlocks(described, filed, blockOf('rows', recordOf({ revision: 2n ** 60n }))),
      'has the number 1152921504606846976',
    ],
    ['another type of record', withBlocks(described, filed, blockOf('rows', recordOf({ type: 1 }))), 'stands among'],
    ['an unknown type of record', withBlocks(described, filed, blockOf('rows', recordOf({ type: 3 }))), 'type 3'],
  ])('with %s is rejected', async (_, content, message) => {
    await expect(read(content)).rejects.toMatchObject({ ...damage, message: expect.stringContaining(message) });
  });
});

const described = blockOf('about', about);
const filed = blockOf('files', files);

function headOf(kind: number, size: number, stored: number): Buffer {
  const head = Buffer.alloc(BLOCK_HEAD_BYTES);
  head.writeUInt8(kind, 0);
  head.writeUInt32BE(size, 1);
  head.writeUInt32BE(stored, 5);
  return head;
}

function blockOf(kind: (typeof BLOCK_KINDS)[number], content: Buffer | string | object, size?: number): Buffer {
  const text = typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content);
  const bytes = Buffer.from(text as string);
  const stored = deflateRawSync(bytes);
  const head = headOf(BLOCK_KINDS.indexOf(kind), size ?? bytes.length, stored.length);
  return Buffer.concat([head, checksumOf(head, stored), stored]);
}

function withBlocks(...blocks: readonly Buffer[]): Buffer {
  return Buffer.concat([MAGIC, ...blocks]);
}

function recordOf({ type = 0, keyBytes = 1, revision = 1n }): Buffer {
  const record = Buffer.alloc(38, 'k');
  record.fill(0, 0, 37);
  record.writeUInt8(type, 0);
  record.writeUInt32BE(keyBytes, 1);
  record.writeBigUInt64BE(revision, 13);
  return record;
}

function blocksOf(content: Buffer): { kind: string | undefined; bytes: Buffer }[] {
  const blocks: { kind: string | undefined; bytes: Buffer }[] = [];
  for (let at = MAGIC.length; at < content.length; ) {
    const length = BLOCK_HEAD_BYTES + 16 + content.readUInt32BE(at + 5);
    blocks.push({ kind: BLOCK_KINDS[content.readUInt8(at)], bytes: content.subarray(at, at + length) });
    at += length;
  }
  return blocks;
}

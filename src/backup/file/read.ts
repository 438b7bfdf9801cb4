/** Reads a backup, part by part. What is read may be hostile: lengths are bounded, and nothing in it is a path. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';
import { ByteReader } from './byte-reader.ts';
import type { BackupEnd, BackupPart } from './content.ts';
import { parseAbout, parseEnd, parseFiles } from './documents.ts';
import {
  BackupDamaged,
  BLOCK_HEAD_BYTES,
  BLOCK_KINDS,
  type BlockKind,
  CHECKSUM_BYTES,
  checksumOf,
  MAGIC,
  MAX_BLOCK_BYTES,
  MAX_DOCUMENT_BYTES,
} from './format.ts';
import { decodeHistory, decodeRows } from './records.ts';

const decompress = promisify<Buffer, object, Buffer>(inflateRaw);

/** Yields the parts of a backup. Throws BackupDamaged unless it is whole; what was read before must not be used then. */
export async function* readBackup(content: AsyncIterable<Uint8Array>): AsyncGenerator<BackupPart, void> {
  const input = new ByteReader(content);
  try {
    const digest = createHash('sha256').update(await readMagic(input));
    const seen = { rows: 0, changes: 0 };
    for (let previous: BlockKind | undefined; ; ) {
      const { kind, content: bytes, stored } = await readBlock(input);
      checkOrder(previous, kind);
      previous = kind;
      if (kind === 'end') {
        const { digest: wanted, ...end } = parseEnd(bytes);
        checkEnd(end, seen);
        if (digest.digest('hex') !== wanted)
          throw new BackupDamaged('the backup is damaged: its digest does not match');
        if (!(await input.isAtEnd())) throw new BackupDamaged('the backup is damaged: something follows its end');
        yield { kind, end };
        return;
      }
      for (const part of stored) digest.update(part);
      const part = partOf(kind, bytes);
      if (part.kind === 'rows') seen.rows += part.rows.length;
      if (part.kind === 'changes') seen.changes += part.records.length;
      yield part;
    }
  } finally {
    await input.close();
  }
}

async function readMagic(input: ByteReader): Promise<Buffer> {
  const found = await input.take(MAGIC.length);
  if (!found?.subarray(0, -1).equals(MAGIC.subarray(0, -1))) {
    throw new BackupDamaged('the file is not a backup, or it is encrypted with a key that was not given');
  }
  const [format, supported] = [found.at(-1), MAGIC.at(-1)];
  if (format !== supported) {
    throw new BackupDamaged(`the backup has format ${format}, and this qd supports ${supported}: use a newer qd`);
  }
  return found;
}

interface ReadBlock {
  readonly kind: BlockKind;
  readonly content: Buffer;
  /** Its bytes in the file. */
  readonly stored: readonly Buffer[];
}

async function readBlock(input: ByteReader): Promise<ReadBlock> {
  const head = await taken(input, BLOCK_HEAD_BYTES);
  const kind = BLOCK_KINDS[head.readUInt8(0)];
  if (!kind) throw new BackupDamaged(`the backup is damaged: it has a block of the unknown kind ${head.readUInt8(0)}`);
  const [size, storedSize] = [head.readUInt32BE(1), head.readUInt32BE(5)];
  const limit = kind === 'rows' || kind === 'changes' ? MAX_BLOCK_BYTES : MAX_DOCUMENT_BYTES;
  // What cannot be compressed grows by a few bytes.
  if (size > limit || storedSize > limit + limit / 1024 + 64) {
    throw new BackupDamaged(`the backup is damaged: a block of "${kind}" has ${Math.max(size, storedSize)} bytes`);
  }
  const checksum = await taken(input, CHECKSUM_BYTES);
  const stored = await taken(input, storedSize);
  if (!checksumOf(head, stored).equals(checksum)) {
    throw new BackupDamaged(`the backup is damaged: the checksum of a block of "${kind}" does not match`);
  }
  return { kind, content: await inflated(stored, size), stored: [head, checksum, stored] };
}

async function taken(input: ByteReader, bytes: number): Promise<Buffer> {
  const found = await input.take(bytes);
  if (!found) throw new BackupDamaged('the backup is truncated: it ends within a block, or before its end');
  return found;
}

async function inflated(stored: Buffer, size: number): Promise<Buffer> {
  const content = await decompress(stored, { maxOutputLength: Math.max(size, 1) }).catch((cause: unknown) => {
    throw new BackupDamaged('the backup is damaged: a block cannot be decompressed', { cause });
  });
  if (content.length !== size) throw new BackupDamaged('the backup is damaged: a block has another size than it says');
  return content;
}

/** Blocks of changes and of rows may repeat, or be missing. */
function checkOrder(previous: BlockKind | undefined, kind: BlockKind): void {
  const [before, now] = [previous ? BLOCK_KINDS.indexOf(previous) : -1, BLOCK_KINDS.indexOf(kind)];
  const first = BLOCK_KINDS.indexOf('changes');
  if (now < first || before < first - 1 ? now === before + 1 : now >= before) return;
  throw new BackupDamaged(`the backup is damaged: a block of "${kind}" follows one of "${previous ?? 'nothing'}"`);
}

function checkEnd(end: BackupEnd, seen: Pick<BackupEnd, 'rows' | 'changes'>): void {
  if (end.rows === seen.rows && end.changes === seen.changes) return;
  throw new BackupDamaged(`the backup is damaged: it has ${seen.rows} of ${end.rows} objects`);
}

function partOf(kind: Exclude<BlockKind, 'end'>, content: Buffer): BackupPart {
  switch (kind) {
    case 'about':
      return { kind, about: parseAbout(content) };
    case 'files':
      return { kind, files: parseFiles(content) };
    case 'changes':
      return { kind, records: decodeHistory(content) };
    case 'rows':
      return { kind, rows: decodeRows(content) };
  }
}

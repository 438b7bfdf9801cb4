/** Writes a backup, as a stream of bytes. Compression runs in the threads of zlib; nothing is kept but one block. */
import { createHash, type Hash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, deflateRaw } from 'node:zlib';
import type { BackupAbout, BackupEnd, HistoryRecord, SavedFiles, SavedRow } from './content.ts';
import {
  BLOCK_HEAD_BYTES,
  BLOCK_KINDS,
  type BlockKind,
  checksumOf,
  FULL_BLOCK_BYTES,
  MAGIC,
  MAX_BLOCK_BYTES,
} from './format.ts';
import { encodeHistory, encodeRow } from './records.ts';

const compress = promisify<Buffer, object, Buffer>(deflateRaw);

export interface BackupContent {
  readonly about: BackupAbout;
  readonly files: SavedFiles;
  /** History before the objects, oldest first. Each key's first change follows the row that it replaced. */
  readonly history: AsyncIterable<HistoryRecord>;
  readonly rows: AsyncIterable<SavedRow>;
  /** Rows that could not be read, known when all others were read. */
  damaged(): BackupEnd['damaged'];
}

export async function* writeBackup({
  about,
  files,
  history,
  rows,
  damaged,
}: BackupContent): AsyncGenerator<Uint8Array, BackupEnd> {
  const digest = createHash('sha256');
  const hashed = (bytes: Uint8Array) => {
    digest.update(bytes);
    return bytes;
  };
  yield hashed(MAGIC);
  yield hashed(await block('about', [json(about)]));
  yield hashed(await block('files', [json(files)]));
  const changes = yield* blocks('changes', encoded(history, encodeHistory), digest);
  const count = yield* blocks('rows', encoded(rows, encodeRow), digest);
  const end: BackupEnd = { rows: count, changes, damaged: damaged() };
  yield await block('end', [json({ ...end, digest: digest.digest('hex') })]);
  return end;
}

const json = (value: object) => Buffer.from(JSON.stringify(value));

async function* encoded<T>(items: AsyncIterable<T>, encode: (item: T) => readonly Buffer[]) {
  for await (const item of items) yield encode(item);
}

/** Yields full blocks of records, and returns the number of records. */
async function* blocks(
  kind: BlockKind,
  records: AsyncIterable<readonly Buffer[]>,
  digest: Hash,
): AsyncGenerator<Uint8Array, number> {
  let parts: Buffer[] = [];
  let bytes = 0;
  let count = 0;
  const flush = async () => {
    const done = await block(kind, parts);
    digest.update(done);
    parts = [];
    bytes = 0;
    return done;
  };
  for await (const record of records) {
    for (const part of record) {
      parts.push(part);
      bytes += part.length;
    }
    count++;
    if (bytes >= FULL_BLOCK_BYTES) yield await flush();
  }
  if (parts.length > 0) yield await flush();
  return count;
}

async function block(kind: BlockKind, parts: readonly Buffer[]): Promise<Buffer> {
  const content = Buffer.concat(parts);
  if (content.length > MAX_BLOCK_BYTES) {
    throw new RangeError(`a record of ${content.length} bytes is larger than a backup takes, ${MAX_BLOCK_BYTES}`);
  }
  const stored = await compress(content, { level: constants.Z_BEST_SPEED });
  const head = Buffer.allocUnsafe(BLOCK_HEAD_BYTES);
  head.writeUInt8(BLOCK_KINDS.indexOf(kind), 0);
  head.writeUInt32BE(content.length, 1);
  head.writeUInt32BE(stored.length, 5);
  return Buffer.concat([head, checksumOf(head, stored), stored]);
}

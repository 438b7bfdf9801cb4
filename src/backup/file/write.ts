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
  yield hashed(await block('about', json(about)));
  yield hashed(await block('files', json(files)));
  const changes = yield* blocks('changes', encoded(history, encodeHistory), digest);
  const count = yield* blocks('rows', encoded(rows, encodeRow), digest);
  const end: BackupEnd = { rows: count, changes, damaged: damaged() };
  yield await block('end', json({ ...end, digest: digest.digest('hex') }));
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
  const collected = new CollectedBlock();
  let count = 0;
  const flush = async () => {
    const done = await block(kind, collected.content);
    digest.update(done);
    collected.clear();
    return done;
  };
  for await (const record of records) {
    collected.add(record);
    count++;
    if (collected.content.length >= FULL_BLOCK_BYTES) yield await flush();
  }
  if (collected.content.length > 0) yield await flush();
  return count;
}

/** Collects one block after the other in the same memory: new memory for each keeps the garbage collector busy. */
class CollectedBlock {
  #memory = Buffer.allocUnsafeSlow(2 * FULL_BLOCK_BYTES);
  #bytes = 0;

  get content(): Buffer {
    return this.#memory.subarray(0, this.#bytes);
  }

  add(parts: readonly Buffer[]): void {
    const bytes = parts.reduce((sum, { length }) => sum + length, this.#bytes);
    if (bytes > this.#memory.length) {
      const larger = Buffer.allocUnsafeSlow(2 * bytes);
      this.content.copy(larger);
      this.#memory = larger;
    }
    for (const part of parts) this.#bytes += part.copy(this.#memory, this.#bytes);
  }

  clear(): void {
    this.#bytes = 0;
  }
}

async function block(kind: BlockKind, content: Buffer): Promise<Buffer> {
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

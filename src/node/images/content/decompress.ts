/** Decompresses a stream according to its first bytes: gzip, zstd, or not at all. */
import { Readable } from 'node:stream';
import * as zlib from 'node:zlib';
import { RuntimeError } from '../../runtime/errors.ts';

const GZIP = Buffer.from([0x1f, 0x8b]);
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
const LONGEST_MAGIC = 4;

/** Node has it since 22.15. */
const createZstdDecompress = (zlib as { createZstdDecompress?: () => NodeJS.ReadWriteStream }).createZstdDecompress;

export async function* decompressed(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const chunks = source[Symbol.asyncIterator]();
  try {
    const head = await readHead(chunks);
    const whole = Readable.from(withHead(head, chunks), { objectMode: false });
    if (startsWith(head, GZIP)) yield* through(whole, zlib.createGunzip());
    else if (!startsWith(head, ZSTD)) yield* whole as AsyncIterable<Buffer>;
    else if (createZstdDecompress) yield* through(whole, createZstdDecompress());
    else throw new RuntimeError('Unsupported', 'it is compressed with zstd, which needs Node 22.15 or newer; use gzip');
  } finally {
    await chunks.return?.();
  }
}

async function readHead(chunks: AsyncIterator<Uint8Array>): Promise<Buffer> {
  let head = Buffer.alloc(0);
  while (head.length < LONGEST_MAGIC) {
    const { done, value } = await chunks.next();
    if (done) break;
    head = Buffer.concat([head, value]);
  }
  return head;
}

async function* withHead(head: Buffer, chunks: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield head;
  yield* { [Symbol.asyncIterator]: () => chunks };
}

async function* through(source: Readable, transform: NodeJS.ReadWriteStream): AsyncGenerator<Buffer> {
  source.on('error', (error) => (transform as NodeJS.ReadWriteStream & { destroy(error: Error): void }).destroy(error));
  try {
    yield* source.pipe(transform) as unknown as AsyncIterable<Buffer>;
  } finally {
    source.destroy();
  }
}

function startsWith(bytes: Buffer, magic: Buffer): boolean {
  return bytes.subarray(0, magic.length).equals(magic);
}

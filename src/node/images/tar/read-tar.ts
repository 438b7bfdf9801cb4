/** Reads the entries of a tar archive one after the other. */
import { BLOCK_BYTES, type EntryHeader, type EntryType, paddingOf, TarError, TYPE_FLAGS } from './entry.ts';
import { decodeHeader, decodePax, type PaxRecords, type RawHeader } from './header.ts';

export interface TarEntry extends EntryHeader {
  /** Content, which may be left unread. It ends with the next entry. */
  readonly content: AsyncIterable<Buffer>;
}

/** Limit for names and other values in extended headers. */
const MAX_EXTENSION_BYTES = 1024 * 1024;
const NO_RECORDS: PaxRecords = new Map();

const TYPES: ReadonlyMap<string, EntryType> = new Map([
  ...Object.entries(TYPE_FLAGS).map(([type, flag]) => [flag, type as EntryType] as const),
  ['\0', 'file'],
  // Contiguous files, which modern programs no longer make.
  ['7', 'file'],
]);

/** Attributes of the next entry from extended headers. */
interface Extension {
  path?: string;
  linkTarget?: string;
  records: PaxRecords;
}

/** Reads the entries. Throws a TarError. The whole source is read, including data behind the end of the archive. */
export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const reader = new ByteReader(source);
  let globals = NO_RECORDS;
  let extension: Extension = { records: NO_RECORDS };
  try {
    for (;;) {
      const block = await reader.exactly(BLOCK_BYTES);
      if (block === undefined || block.every((byte) => byte === 0)) break;
      const raw = decodeHeader(block);
      if (raw.flag === 'L') extension.path = (await extended(reader, raw)).toString('utf8').replace(/\0.*$/s, '');
      else if (raw.flag === 'K') {
        extension.linkTarget = (await extended(reader, raw)).toString('utf8').replace(/\0.*$/s, '');
      } else if (raw.flag === 'x') extension.records = decodePax(await extended(reader, raw));
      else if (raw.flag === 'g') globals = new Map([...globals, ...decodePax(await extended(reader, raw))]);
      else {
        const header = resolve(raw, extension, globals);
        extension = { records: NO_RECORDS };
        yield* entry(reader, header);
      }
    }
    await reader.drain();
  } finally {
    await reader.close();
  }
}

async function* entry(reader: ByteReader, header: EntryHeader): AsyncGenerator<TarEntry> {
  let left = header.size;
  async function* content(): AsyncGenerator<Buffer> {
    while (left > 0) {
      const part = await reader.take(left);
      if (part === undefined) throw truncated();
      left -= part.length;
      yield part;
    }
  }
  yield { ...header, content: content() };
  await reader.skip(left);
  left = 0;
  // Some writers leave out the padding of the last entry and the end mark.
  await reader.skipAtMost(paddingOf(header.size));
}

async function extended(reader: ByteReader, { size }: RawHeader): Promise<Buffer> {
  if (size > MAX_EXTENSION_BYTES) throw new TarError('an extended header of the tar archive is too large');
  const body = size === 0 ? Buffer.alloc(0) : await reader.exactly(size);
  if (body === undefined) throw truncated();
  await reader.skip(paddingOf(size));
  return body;
}

function resolve(raw: RawHeader, extension: Extension, globals: PaxRecords): EntryHeader {
  const record = (key: string) => extension.records.get(key) ?? globals.get(key);
  const number = (key: string, otherwise: number) => {
    const text = record(key);
    const value = text === undefined ? otherwise : Number(text);
    if (!Number.isFinite(value)) throw new TarError(`an extended header of the tar archive has no number for ${key}`);
    return value;
  };
  const path = record('path') ?? extension.path ?? raw.path;
  const size = number('size', raw.size);
  if (!Number.isSafeInteger(size) || size < 0) throw new TarError('an entry of the tar archive has an impossible size');
  if (record('GNU.sparse.major') !== undefined) throw sparse(path);
  const type = typeOf(raw.flag, path);
  return {
    type,
    path,
    mode: raw.mode,
    uid: number('uid', raw.uid),
    gid: number('gid', raw.gid),
    // Some writers give links the size of their target; no content follows.
    size: type === 'file' ? size : 0,
    mtime: number('mtime', raw.mtime),
    linkTarget: record('linkpath') ?? extension.linkTarget ?? raw.linkTarget,
  };
}

function typeOf(flag: string, path: string): EntryType {
  const type = TYPES.get(flag);
  if (flag === 'S') throw sparse(path);
  if (type === undefined)
    throw new TarError(`the tar archive has an entry of the unknown type ${JSON.stringify(flag)}`);
  // Archives of old have no type for directories.
  return type === 'file' && path.endsWith('/') ? 'directory' : type;
}

const sparse = (path: string) => new TarError(`${path} is a sparse file, which is not supported`);

/** Reads exact numbers of bytes from a stream of chunks. */
class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #current: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Returns between one and `max` bytes; undefined at the end. */
  async take(max: number): Promise<Buffer | undefined> {
    while (this.#current.length === 0) {
      const { done, value } = await this.#chunks.next();
      if (done) return undefined;
      this.#current = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    }
    const taken = this.#current.subarray(0, max);
    this.#current = this.#current.subarray(taken.length);
    return taken;
  }

  /** Returns exactly `count` bytes; undefined when the stream has ended before the first of them. */
  async exactly(count: number): Promise<Buffer | undefined> {
    const first = await this.take(count);
    if (first === undefined || first.length === count) return first;
    const parts = [first];
    for (let missing = count - first.length; missing > 0; ) {
      const part = await this.take(missing);
      if (part === undefined) throw truncated();
      parts.push(part);
      missing -= part.length;
    }
    return Buffer.concat(parts, count);
  }

  async skip(count: number): Promise<void> {
    if ((await this.skipAtMost(count)) < count) throw truncated();
  }

  /** Returns how many bytes there were to skip. */
  async skipAtMost(count: number): Promise<number> {
    let skipped = 0;
    while (skipped < count) {
      const part = await this.take(count - skipped);
      if (part === undefined) break;
      skipped += part.length;
    }
    return skipped;
  }

  /** Reads the rest: code that computes a digest of the stream has to see all of it. */
  async drain(): Promise<void> {
    while ((await this.take(Number.MAX_SAFE_INTEGER)) !== undefined);
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}

function truncated(): TarError {
  return new TarError('the tar archive ends too early');
}

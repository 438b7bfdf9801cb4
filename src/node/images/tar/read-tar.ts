/** Reads the entries of a tar archive one after the other. */
import { ByteReader, truncated } from './byte-reader.ts';
import { BLOCK_BYTES, type EntryHeader, type EntryType, paddingOf, TarError, TYPE_FLAGS } from './entry.ts';
import { decodeHeader, type RawHeader } from './header.ts';
import { decodePax, type PaxRecords } from './pax.ts';

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

/** Writes a tar archive: ustar, with PAX headers for values that do not fit. */
import { BLOCK_BYTES, type EntryHeader, paddingOf, TarError, TYPE_FLAGS } from './entry.ts';
import { encodeHeader, encodePax, type RawHeader } from './header.ts';

type Required = 'type' | 'path' | 'size';

export interface TarInput extends Pick<EntryHeader, Required>, Partial<Omit<EntryHeader, Required>> {
  readonly content?: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

const DEFAULT_FILE_MODE = 0o644;
const DEFAULT_DIRECTORY_MODE = 0o755;
/** The end of an archive. */
const END_BLOCKS = 2;
/** The largest size that fits into the header; the true one is in the PAX header. */
const MAX_HEADER_SIZE = 0o77777777777;

export async function* writeTar(entries: Iterable<TarInput> | AsyncIterable<TarInput>): AsyncGenerator<Buffer> {
  for await (const entry of entries) {
    yield* headers(entry);
    let written = 0;
    for await (const part of entry.content ?? []) {
      written += part.length;
      yield Buffer.from(part.buffer, part.byteOffset, part.byteLength);
    }
    if (written !== entry.size) throw new TarError(`${entry.path} changed while it was read`);
    yield Buffer.alloc(paddingOf(entry.size));
  }
  yield Buffer.alloc(END_BLOCKS * BLOCK_BYTES);
}

function* headers(entry: TarInput): Generator<Buffer> {
  const isDirectory = entry.type === 'directory';
  const header: RawHeader = {
    path: isDirectory && !entry.path.endsWith('/') ? `${entry.path}/` : entry.path,
    mode: entry.mode ?? (isDirectory ? DEFAULT_DIRECTORY_MODE : DEFAULT_FILE_MODE),
    uid: entry.uid ?? 0,
    gid: entry.gid ?? 0,
    size: entry.size,
    mtime: Math.floor(entry.mtime ?? 0),
    flag: TYPE_FLAGS[entry.type],
    linkTarget: entry.linkTarget ?? '',
  };
  const block = encodeHeader(header);
  if (block !== undefined) {
    yield block;
    return;
  }
  const records = encodePax(
    new Map([
      ['path', header.path],
      ['linkpath', header.linkTarget],
      ['size', String(header.size)],
      ['uid', String(header.uid)],
      ['gid', String(header.gid)],
      ['mtime', String(header.mtime)],
    ]),
  );
  const small = { ...header, uid: 0, gid: 0, mtime: 0, linkTarget: '' };
  yield encodeHeader({ ...small, path: 'PaxHeader', flag: 'x', size: records.length, mode: DEFAULT_FILE_MODE })!;
  yield records;
  yield Buffer.alloc(paddingOf(records.length));
  yield encodeHeader({ ...small, path: 'pax', size: Math.min(header.size, MAX_HEADER_SIZE) })!;
}

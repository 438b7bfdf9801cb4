/** Header blocks of SPDY/3: a count, then length-prefixed names and values. NUL separates values of a name. */
import { SpdyError } from './errors.ts';

/** Headers by lower-case name. */
export type SpdyHeaders = Readonly<Record<string, string>>;

/** A header block as stored deflate blocks. The first block of a connection starts the zlib stream. */
export function encodeHeaders(headers: SpdyHeaders, isFirst: boolean): Buffer {
  const entries = Object.entries(headers);
  const parts = [uint32(entries.length)];
  for (const [name, value] of entries) parts.push(...prefixed(name.toLowerCase()), ...prefixed(value));
  return Buffer.concat([...(isFirst ? [ZLIB_HEAD] : []), ...storedBlocks(Buffer.concat(parts))]);
}

export function decodeHeaders(block: Buffer): SpdyHeaders {
  const headers: Record<string, string> = Object.create(null);
  let offset = 0;
  const number = () => {
    if (offset + 4 > block.length) throw new SpdyError('a header block is truncated');
    offset += 4;
    return block.readUInt32BE(offset - 4);
  };
  const text = () => {
    const length = number();
    if (length > block.length - offset) throw new SpdyError('a header block is truncated');
    offset += length;
    return block.toString('utf8', offset - length, offset);
  };
  const count = number();
  for (let i = 0; i < count; i++) {
    const name = text().toLowerCase();
    if (name === '') throw new SpdyError('a header has no name');
    if (name in headers) throw new SpdyError('a header block repeats a name');
    headers[name] = text();
  }
  if (offset !== block.length) throw new SpdyError('bytes follow the headers of a block');
  return headers;
}

/** Deflate with a 32 KB window, fastest compression, no dictionary. */
const ZLIB_HEAD = Buffer.from([0x78, 0x01]);
const MAX_STORED_BYTES = 0xffff;

/** An empty block. Go's inflater releases data only at such a block; without it, it fails at the next header block. */
const FLUSH = Buffer.from([0, 0, 0, 0xff, 0xff]);

function storedBlocks(bytes: Buffer): Buffer[] {
  const blocks: Buffer[] = [];
  for (let offset = 0; offset < bytes.length; offset += MAX_STORED_BYTES) {
    const part = bytes.subarray(offset, offset + MAX_STORED_BYTES);
    const head = Buffer.alloc(5);
    head.writeUInt16LE(part.length, 1);
    head.writeUInt16LE(~part.length & 0xffff, 3);
    blocks.push(head, part);
  }
  return [...blocks, FLUSH];
}

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function prefixed(text: string): [Buffer, Buffer] {
  const bytes = Buffer.from(text);
  return [uint32(bytes.length), bytes];
}

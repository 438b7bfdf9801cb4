/** HPACK (RFC 7541) without the dynamic table, for either side. Equal headers are therefore equal bytes. */
import { BoundedMap, textBytes } from '../../base/collections/bounded-map.ts';
import { ErrorCode, Http2Error } from './frames.ts';
import { decodeHuffman } from './huffman.ts';

export type Headers = ReadonlyMap<string, string>;

/** Encodes every header as a literal with its name. */
export function encodeHeaders(headers: Iterable<readonly [name: string, value: string]>): Buffer {
  const parts: Buffer[] = [];
  for (const [name, value] of headers) parts.push(Buffer.from([0]), literal(name), literal(value));
  return Buffer.concat(parts);
}

function literal(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([integer(bytes.length), bytes]);
}

/** Encodes a length with a prefix of seven bits; the eighth bit, for Huffman coding, is 0. */
function integer(value: number): Buffer {
  if (value < 0x7f) return Buffer.from([value]);
  const bytes = [0x7f];
  let rest = value - 0x7f;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** Size of the cache of decoded blocks. Servers send few different ones, except for errors. */
const MAX_CACHED_BYTES = 12 * 1024;

export class HeaderDecoder {
  readonly #known = new BoundedMap<Headers>({
    maxBytes: MAX_CACHED_BYTES,
    bytesOf: (headers) => [...headers].reduce((sum, [name, value]) => sum + textBytes(name) + textBytes(value), 0),
  });

  /** Decodes a header block. Throws Http2Error when it is malformed. */
  decode(block: Buffer): Headers {
    const key = block.toString('latin1');
    let headers = this.#known.get(key);
    if (headers) return headers;
    headers = new BlockReader(block).read();
    this.#known.set(key, headers);
    return headers;
  }
}

class BlockReader {
  #at = 0;

  constructor(private readonly block: Buffer) {}

  read(): Headers {
    const headers = new Map<string, string>();
    while (this.#at < this.block.length) {
      const first = this.block[this.#at] as number;
      if (first >= 0x80) {
        const [name, value] = entry(this.#integer(7));
        headers.set(name, value);
      } else if (first >= 0x40) {
        this.#literal(6, headers);
      } else if (first >= 0x20) {
        if (this.#integer(5) !== 0) throw malformed('a header table that was not offered');
      } else {
        this.#literal(4, headers);
      }
    }
    return headers;
  }

  #literal(bits: number, headers: Map<string, string>): void {
    const index = this.#integer(bits);
    const name = index === 0 ? this.#string() : entry(index)[0];
    headers.set(name, this.#string());
  }

  #string(): string {
    const huffman = (this.block[this.#at] ?? 0) >= 0x80;
    const length = this.#integer(7);
    const end = this.#at + length;
    if (end > this.block.length) throw malformed('a header that is cut off');
    const bytes = this.block.subarray(this.#at, end);
    this.#at = end;
    const text = huffman ? decodeHuffman(bytes) : bytes.toString('latin1');
    if (text === undefined) throw malformed('a header in no known code');
    return text;
  }

  #integer(bits: number): number {
    const mask = 2 ** bits - 1;
    let value = this.#byte() & mask;
    if (value < mask) return value;
    for (let shift = 0; shift <= 21; shift += 7) {
      const byte = this.#byte();
      value += (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw malformed('a number that is too long');
  }

  #byte(): number {
    const byte = this.block[this.#at++];
    if (byte === undefined) throw malformed('a header that is cut off');
    return byte;
  }
}

function entry(index: number): readonly [name: string, value: string] {
  const found = STATIC[index - 1];
  if (!found) throw malformed('an entry that its table does not have');
  return found;
}

function malformed(what: string): Http2Error {
  return new Http2Error(ErrorCode.COMPRESSION_ERROR, `the peer sent ${what}`);
}

/** The static table of RFC 7541, appendix A. */
const STATIC: readonly (readonly [name: string, value: string])[] = [
  ...[':authority', ':method=GET', ':method=POST', ':path=/', ':path=/index.html', ':scheme=http', ':scheme=https'],
  ...[':status=200', ':status=204', ':status=206', ':status=304', ':status=400', ':status=404', ':status=500'],
  ...['accept-charset', 'accept-encoding=gzip, deflate', 'accept-language', 'accept-ranges', 'accept'],
  ...['access-control-allow-origin', 'age', 'allow', 'authorization', 'cache-control', 'content-disposition'],
  ...['content-encoding', 'content-language', 'content-length', 'content-location', 'content-range', 'content-type'],
  ...['cookie', 'date', 'etag', 'expect', 'expires', 'from', 'host', 'if-match', 'if-modified-since', 'if-none-match'],
  ...['if-range', 'if-unmodified-since', 'last-modified', 'link', 'location', 'max-forwards', 'proxy-authenticate'],
  ...['proxy-authorization', 'range', 'referer', 'refresh', 'retry-after', 'server', 'set-cookie'],
  ...['strict-transport-security', 'transfer-encoding', 'user-agent', 'vary', 'via', 'www-authenticate'],
].map((text) => {
  const [name = '', value = ''] = text.split('=');
  return [name, value];
});

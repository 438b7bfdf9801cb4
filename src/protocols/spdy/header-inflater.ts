import { constants, createInflate, type Inflate } from 'node:zlib';
import { SpdyError } from './errors.ts';

const STRINGS = `options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow
authorization cache-control connection content-base content-encoding content-language content-length content-location
content-md5 content-range content-type date etag expect expires from host if-match if-modified-since if-none-match if-range
if-unmodified-since last-modified location max-forwards pragma proxy-authenticate proxy-authorization range referer
retry-after server te trailer transfer-encoding upgrade user-agent vary via warning www-authenticate method get status 200_OK
version HTTP/1.1 url public set-cookie keep-alive origin`;

const CODES =
  '100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505' +
  '203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden' +
  '404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable';

const TEXT =
  'Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT' +
  'chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,' +
  'publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.';

function lengthPrefixed(text: string): Buffer {
  const bytes = Buffer.alloc(4 + text.length);
  bytes.writeUInt32BE(text.length);
  bytes.write(text, 4, 'latin1');
  return bytes;
}

let dictionary: Buffer | undefined;

/** Created on first use, because few processes need it. */
export function headerDictionary(): Buffer {
  dictionary ??= Buffer.concat([
    ...STRINGS.split(/\s+/).map((text) => lengthPrefixed(text.replace('_', ' '))),
    Buffer.from(CODES, 'latin1'),
    Buffer.from(TEXT, 'latin1'),
  ]);
  return dictionary;
}

/** Limit for one inflated header block. */
const MAX_HEADER_BYTES = 64 * 1024;

/** Inflates the header blocks of a connection, which are one zlib stream: one at a time, in order. */
export class HeaderInflater {
  readonly #inflate: Inflate;
  #parts: Buffer[] = [];
  #length = 0;
  #fail: (error: Error) => void = () => undefined;

  constructor() {
    this.#inflate = createInflate({ dictionary: headerDictionary(), finishFlush: constants.Z_SYNC_FLUSH });
    this.#inflate.on('data', (part: Buffer) => {
      this.#length += part.length;
      if (this.#length > MAX_HEADER_BYTES) this.close(new SpdyError('a header block is too large'));
      else this.#parts.push(part);
    });
    this.#inflate.on('error', (cause) => this.#fail(new SpdyError('a header block cannot be inflated', { cause })));
    this.#inflate.on('end', () => this.#fail(new SpdyError('the compressed headers have ended')));
    this.#inflate.on('close', () => this.#fail(new SpdyError('the session has ended')));
  }

  /** Inflates a block. Rejects with a SpdyError; then no further block can be inflated. */
  inflate(block: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#fail = reject;
      if (this.#inflate.destroyed || this.#inflate.writableEnded) {
        reject(new SpdyError('the session has ended'));
        return;
      }
      this.#inflate.write(block);
      this.#inflate.flush(constants.Z_SYNC_FLUSH, () => {
        const inflated = Buffer.concat(this.#parts);
        this.#parts = [];
        this.#length = 0;
        resolve(inflated);
      });
    });
  }

  close(error?: Error): void {
    if (error) this.#fail(error);
    this.#inflate.destroy();
  }
}

import { constants, createInflate, type Inflate } from 'node:zlib';
import { headerDictionary } from './dictionary.ts';
import { SpdyError } from './errors.ts';

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

/** Reads exact numbers of bytes from a stream of chunks. */
import { TarError } from './entry.ts';

export class ByteReader {
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

export function truncated(): TarError {
  return new TarError('the tar archive ends too early');
}

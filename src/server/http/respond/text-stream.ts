import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** Streams text to a client, as fast as the client reads it, until the text ends or the server shuts down. */
export class TextStream {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #out: Writable;
  #end: () => void = () => {};
  readonly #ended = new Promise<undefined>((resolve) => {
    this.#end = () => resolve(undefined);
  });

  constructor(chunks: AsyncIterable<Uint8Array>, out: Writable) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#out = out;
    out.once('close', this.#end);
  }

  /** Resolves when the response is complete or the client has disconnected. */
  async run(): Promise<void> {
    try {
      for (;;) {
        const next = await Promise.race([this.#chunks.next(), this.#ended]);
        if (next === undefined || next.done || this.#out.destroyed) return;
        if (!this.#out.write(next.value)) await Promise.race([once(this.#out, 'drain'), this.#ended]);
      }
    } finally {
      this.#out.end();
      // An iterator that waits for its next chunk ends only after that; this is not awaited.
      this.#chunks.return?.().catch(() => undefined);
    }
  }

  /** Ends the response early. */
  end(): void {
    this.#end();
  }
}

import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** An answer that goes on: pieces are taken as fast as the client takes them, until they or the server end. */
export class TextStream {
  readonly #pieces: AsyncIterator<Uint8Array>;
  readonly #out: Writable;
  #end: () => void = () => {};
  readonly #ended = new Promise<undefined>((resolve) => {
    this.#end = () => resolve(undefined);
  });

  constructor(pieces: AsyncIterable<Uint8Array>, out: Writable) {
    this.#pieces = pieces[Symbol.asyncIterator]();
    this.#out = out;
    out.once('close', this.#end);
  }

  /** Resolves when the answer is complete or the client has gone. */
  async run(): Promise<void> {
    try {
      for (;;) {
        const next = await Promise.race([this.#pieces.next(), this.#ended]);
        if (next === undefined || next.done || this.#out.destroyed) return;
        if (!this.#out.write(next.value)) await Promise.race([once(this.#out, 'drain'), this.#ended]);
      }
    } finally {
      this.#out.end();
      // One that waits for its next piece hears of it when it has it; nobody waits for that.
      this.#pieces.return?.().catch(() => undefined);
    }
  }

  /** Ends it where it is. */
  end(): void {
    this.#end();
  }
}

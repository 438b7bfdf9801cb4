import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** Streams text to a client, as fast as the client reads it, until the text ends or the server shuts down. */
export class TextStream {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #isEnded = false;
  #stopWaiting: () => void = () => undefined;

  constructor(
    chunks: AsyncIterable<Uint8Array>,
    private readonly out: Writable,
  ) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    out.once('close', () => this.end());
  }

  /** Resolves when the response is complete or the client has disconnected. */
  async run(): Promise<void> {
    try {
      for (;;) {
        const next = await this.#orEnd(this.#chunks.next());
        if (next === undefined || next.done || this.out.destroyed) return;
        if (!this.out.write(next.value)) await this.#orEnd(once(this.out, 'drain'));
      }
    } finally {
      this.out.end();
      // An iterator that waits for its next chunk ends only after that, so this is not awaited.
      this.#chunks.return?.().catch(() => undefined);
    }
  }

  /** Ends the response early. */
  end(): void {
    this.#isEnded = true;
    this.#stopWaiting();
  }

  /** Waits; resolves with undefined when the response ends first. A race with one promise would keep all alive. */
  #orEnd<T>(wait: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      this.#stopWaiting = () => resolve(undefined);
      if (this.#isEnded) this.#stopWaiting();
      wait.then(resolve, reject);
    });
  }
}

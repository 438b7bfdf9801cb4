import type { RawEvent, WatchStream } from './transport.ts';

type Batch = readonly RawEvent[];
type Result = IteratorResult<Batch, undefined>;

/** A stream that pulls the events of pushed batches. */
export class WatchPipe implements WatchStream {
  #batches: Batch[] = [];
  #backlog = 0;
  #waiting: { resolve: (result: Result) => void; reject: (error: unknown) => void } | undefined;
  #ended: { error?: unknown } | undefined;

  /** `onClose` is called once: when the consumer closes it, or when the producer ends it. */
  constructor(private onClose: () => void = () => {}) {}

  /** Events that the consumer has not read yet. */
  get backlog(): number {
    return this.#backlog;
  }

  push(batch: Batch): void {
    if (this.#ended || batch.length === 0) return;
    if (this.#waiting) {
      const { resolve } = this.#waiting;
      this.#waiting = undefined;
      resolve({ done: false, value: batch });
    } else {
      this.#batches.push(batch);
      this.#backlog += batch.length;
    }
  }

  /** Ends the stream after the events pushed before. */
  end(error?: unknown): void {
    if (this.#ended) return;
    this.#ended = error === undefined ? {} : { error };
    this.#release();
    if (!this.#waiting) return;
    const { resolve, reject } = this.#waiting;
    this.#waiting = undefined;
    if (error === undefined) resolve({ done: true, value: undefined });
    else reject(error);
  }

  /** Closes the stream and drops the events pushed before. */
  close(): void {
    this.#batches = [];
    this.#backlog = 0;
    this.end();
  }

  [Symbol.asyncIterator](): AsyncIterator<Batch, undefined> {
    return {
      next: () => this.#next(),
      return: async () => {
        this.close();
        return { done: true, value: undefined };
      },
    };
  }

  #next(): Promise<Result> {
    if (this.#batches.length > 0) {
      // A consumer that lags gets everything at once: reading batch by batch, it would not catch up.
      const value = this.#batches.length === 1 ? this.#batches[0]! : this.#batches.flat();
      this.#batches = [];
      this.#backlog = 0;
      return Promise.resolve({ done: false, value });
    }
    const ended = this.#ended;
    if (!ended) return new Promise((resolve, reject) => (this.#waiting = { resolve, reject }));
    if (!('error' in ended)) return Promise.resolve({ done: true, value: undefined });
    this.#ended = {};
    return Promise.reject(ended.error);
  }

  #release(): void {
    const onClose = this.onClose;
    this.onClose = () => {};
    onClose();
  }
}

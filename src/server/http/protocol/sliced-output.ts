/** From this size on, bytes are written in slices. */
export const SLICE_BYTES = 128 * 1024;

/** `isLast`: the slice ends a buffer. An error means that nothing more can be written. */
type WriteSlice = (slice: Buffer, isLast: boolean, written: (error?: Error | null) => void) => void;

/**
 * Writes large buffers slice by slice, each when the one before has left this process. TLS encrypts, and so copies, whatever
 * it is given: of what a client does not read, only one slice is copied; the rest is shared with other clients. Other
 * connections get their turn between slices.
 */
export class SlicedOutput {
  readonly #write: WriteSlice;
  #queue: Buffer[] = [];
  #offset = 0;
  #isWriting = false;
  #onEmpty: (() => void) | undefined;
  /** Bytes that have not been handed to `write`. */
  bytes = 0;
  readonly #written = (error?: Error | null) => {
    this.#isWriting = false;
    if (error) this.#drop();
    else this.#next();
  };

  constructor(write: WriteSlice) {
    this.#write = write;
  }

  get isEmpty(): boolean {
    return this.#queue.length === 0;
  }

  push(buffer: Buffer): void {
    this.#queue.push(buffer);
    this.bytes += buffer.length;
    if (!this.#isWriting) this.#next();
  }

  /** Runs when everything has been handed over; at once if it has. */
  whenEmpty(then: () => void): void {
    if (this.isEmpty) then();
    else this.#onEmpty = then;
  }

  /** The client has gone. */
  #drop(): void {
    this.#queue = [];
    this.bytes = 0;
    this.#onEmpty = undefined;
  }

  #next(): void {
    const [buffer] = this.#queue;
    if (!buffer) return;
    const slice = buffer.subarray(this.#offset, this.#offset + SLICE_BYTES);
    this.#offset += slice.length;
    const isLast = this.#offset === buffer.length;
    if (isLast) {
      this.#queue.shift();
      this.#offset = 0;
    }
    this.bytes -= slice.length;
    this.#isWriting = true;
    this.#write(slice, isLast, this.#written);
    if (!this.isEmpty || !this.#onEmpty) return;
    this.#onEmpty();
    this.#onEmpty = undefined;
  }
}

/** Size above which a response is written in slices. */
export const MAX_WHOLE_BYTES = 128 * 1024;
const SLICE_BYTES = 64 * 1024;
/** Bytes written in one turn of the event loop: encrypting them takes some milliseconds. */
const MAX_TURN_BYTES = 2 * 1024 * 1024;

/** Writes a slice. `isLast`: the slice ends a buffer. An error means that nothing more can be written. */
type WriteSlice = (slice: Buffer, isLast: boolean, written: (error?: Error | null) => void) => void;

/** The turn of the event loop, shared by all outputs of a thread. */
class Turn {
  #bytes = 0;
  #isScheduled = false;
  #waiting: (() => void)[] = [];

  /** Runs `write`, which writes this many bytes, in this turn or in a later one. */
  run(bytes: number, write: () => void): void {
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      setImmediate(() => this.#next());
    }
    if (this.#bytes >= MAX_TURN_BYTES) this.#waiting.push(() => this.run(bytes, write));
    else {
      this.#bytes += bytes;
      write();
    }
  }

  #next(): void {
    this.#bytes = 0;
    this.#isScheduled = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const run of waiting) run();
  }
}

const turn = new Turn();

/**
 * Writes large buffers slice by slice, each when the previous one has left this process. TLS encrypts, and so copies,
 * whatever it is given: for a client that does not read, only one slice is copied; the rest is shared with other
 * clients. When many clients read large responses, their slices are spread over turns of the event loop, so that others
 * need not wait.
 */
export class SlicedOutput {
  readonly #write: WriteSlice;
  #queue: Buffer[] = [];
  #offset = 0;
  #isWriting = false;
  #onEmpty: (() => void) | undefined;
  /** Bytes that have not been passed to `write`. */
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

  /** Runs the callback when everything has been passed on; at once if it has. */
  whenEmpty(then: () => void): void {
    if (this.isEmpty) then();
    else this.#onEmpty = then;
  }

  #next(): void {
    const [buffer] = this.#queue;
    if (!buffer) return;
    this.#isWriting = true;
    turn.run(Math.min(SLICE_BYTES, buffer.length - this.#offset), () => this.#writeSlice(buffer));
  }

  #writeSlice(buffer: Buffer): void {
    const slice = buffer.subarray(this.#offset, this.#offset + SLICE_BYTES);
    this.#offset += slice.length;
    const isLast = this.#offset === buffer.length;
    if (isLast) {
      this.#queue.shift();
      this.#offset = 0;
    }
    this.bytes -= slice.length;
    this.#write(slice, isLast, this.#written);
    if (!this.isEmpty || !this.#onEmpty) return;
    this.#onEmpty();
    this.#onEmpty = undefined;
  }

  /** Discards the output of a client that has disconnected. */
  #drop(): void {
    this.#queue = [];
    this.bytes = 0;
    this.#onEmpty = undefined;
  }
}

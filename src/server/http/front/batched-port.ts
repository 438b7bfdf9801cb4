/** Sends messages to another thread and back, several at a time: posting costs more than a message itself. */

/** One end of a channel between threads. */
export interface Port {
  postMessage(value: unknown, transfer: readonly ArrayBuffer[]): void;
  on(event: 'message', listener: (value: unknown) => void): unknown;
}

interface Batch<Message> {
  readonly messages: readonly Message[];
  /** The bytes of all messages, concatenated. */
  readonly bytes: Uint8Array;
  /** Buffers in memory that both threads share, by their index among all buffers of the batch. */
  readonly shared: ReadonlyMap<number, Uint8Array> | undefined;
}

/** Returns the next buffer of the batch, which has this length. */
export type TakeBytes = (length: number) => Buffer;

/**
 * A batch is posted at the end of a turn of the event loop, or when it has this many messages. Larger batches are less work
 * for both threads, but then the other thread starts with the first request of a turn only after all have been read.
 */
const MAX_BATCH_MESSAGES = 8;

const NO_BYTES = Buffer.alloc(0);

export class BatchedPort<Out, In> {
  readonly #port: Port;
  #messages: Out[] = [];
  #buffers: Uint8Array[] = [];
  #shared: Map<number, Uint8Array> | undefined;
  #bufferCount = 0;
  #size = 0;
  #isScheduled = false;

  constructor(port: Port) {
    this.#port = port;
  }

  /** The latest message that has not been posted yet. */
  get lastUnsent(): Out | undefined {
    return this.#messages.at(-1);
  }

  /** Sends a message with its bytes. They must not change until the end of the turn; bytes in shared memory never. */
  send(message: Out, bytes?: Uint8Array): void {
    this.#messages.push(message);
    if (bytes) this.#add(bytes);
    if (this.#messages.length >= MAX_BATCH_MESSAGES) this.#post();
    else if (!this.#isScheduled) {
      this.#isScheduled = true;
      setImmediate(() => {
        this.#isScheduled = false;
        if (this.#messages.length > 0) this.#post();
      });
    }
  }

  /** Calls the listener for every message. It must take the bytes of each message, needed or not. */
  onMessage(listener: (message: In, take: TakeBytes) => void): void {
    this.#port.on('message', (batch) => {
      const { messages, bytes, shared } = batch as Batch<In>;
      let offset = 0;
      let index = 0;
      const take = (length: number) => {
        const buffer = shared?.get(index++);
        if (buffer) return Buffer.from(buffer.buffer, buffer.byteOffset, length);
        offset += length;
        return Buffer.from(bytes.buffer, bytes.byteOffset + offset - length, length);
      };
      for (const message of messages) listener(message, take);
    });
  }

  #add(bytes: Uint8Array): void {
    const index = this.#bufferCount++;
    if (bytes.buffer instanceof SharedArrayBuffer) {
      this.#shared ??= new Map();
      this.#shared.set(index, bytes);
      return;
    }
    this.#buffers.push(bytes);
    this.#size += bytes.length;
  }

  #post(): void {
    const bytes = this.#concatenate();
    const batch: Batch<Out> = { messages: this.#messages, bytes, shared: this.#shared };
    this.#messages = [];
    this.#shared = undefined;
    this.#bufferCount = 0;
    this.#port.postMessage(batch, bytes === NO_BYTES ? [] : [bytes.buffer]);
  }

  /** Into memory of its own: Node's buffer pool cannot be transferred. */
  #concatenate(): Buffer<ArrayBuffer> {
    if (this.#size === 0) return NO_BYTES;
    const all = Buffer.allocUnsafeSlow(this.#size);
    let offset = 0;
    for (const buffer of this.#buffers) {
      all.set(buffer, offset);
      offset += buffer.length;
    }
    this.#buffers = [];
    this.#size = 0;
    return all;
  }
}

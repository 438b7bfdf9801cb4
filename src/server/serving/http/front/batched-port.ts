/** Exchanges messages with another thread in batches: posting costs more than a message itself. */
import { isMovable, isShared, makeMovable, takeReleasedBytes } from '../../../../base/bytes/shared-buffer.ts';

/** An end of a channel between threads. */
export interface Port {
  postMessage(value: unknown, transfer: readonly ArrayBuffer[]): void;
  on(event: 'message', listener: (value: unknown) => void): unknown;
}

interface Batch<Message> {
  readonly messages: readonly Message[];
  /** The bytes of all messages, concatenated. */
  readonly bytes: Uint8Array;
  /** Buffers that are not copied, because both threads share their memory or the sender transfers it, by index. */
  readonly separate: ReadonlyMap<number, Uint8Array> | undefined;
  /** Size of large buffers in memory that is not shared, to be confirmed when the batch has been handled. */
  readonly large: number;
  /** Shared memory that the sender has released since the last batch: only the receiver's references keep it alive. */
  readonly released: number;
  /** Size of large buffers from the other direction that were handled since the last confirmation. */
  readonly received: number;
}

/** Confirms that large buffers were handled, when no batch does it soon enough. */
type Confirmation = Pick<Batch<never>, 'received'>;

/** Returns the next buffer of the batch, which has this length. */
export type TakeBytes = (length: number) => Buffer;

/**
 * Limit for the messages of a batch, which is posted at the latest at the end of a turn of the event loop. Larger
 * batches are less work for both threads, but then the other thread starts with the first request of a turn only after
 * all have been read.
 */
const MAX_BATCH_MESSAGES = 8;

const MIN_LARGE_BYTES = 64 * 1024;
/** Limit for large buffers that the other thread has not handled; beyond it, senders of large buffers wait. */
export const MAX_UNRECEIVED_BYTES = 8 * 1024 * 1024;
/** Minimum size of a separate confirmation: a message costs the other thread a turn, so less goes with a batch. */
const MIN_CONFIRMED_BYTES = 1024 * 1024;

const NO_BYTES = Buffer.alloc(0);

export class BatchedPort<Out, In> {
  readonly #port: Port;
  #messages: Out[] = [];
  #buffers: Uint8Array[] = [];
  #separate: Map<number, Uint8Array> | undefined;
  #moved: ArrayBuffer[] = [];
  #bufferCount = 0;
  #size = 0;
  #large = 0;
  #isScheduled = false;
  #unreceived = 0;
  #unconfirmed = 0;
  #waiting: (() => void)[] = [];
  #isReleasing = false;
  #onMemory: ((bytes: number) => void) | undefined;

  constructor(port: Port) {
    this.#port = port;
  }

  /** The latest message that has not been posted yet. */
  get lastUnsent(): Out | undefined {
    return this.#messages.at(-1);
  }

  /** Sends a message with its bytes, which stay unchanged until the end of the turn; shared memory forever. */
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

  /**
   * Returns undefined when a large buffer can be sent, or a promise that resolves when it is the caller's turn.
   * Encoding data only then keeps it from accumulating between the threads.
   */
  room(): Promise<void> | undefined {
    if (this.#unreceived <= MAX_UNRECEIVED_BYTES && this.#waiting.length === 0) return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Calls the listener for every message. It must take the bytes of each message, even unneeded ones. */
  onMessage(listener: (message: In, take: TakeBytes) => void): void {
    this.#port.on('message', (value) => {
      const batch = value as Batch<In> | Confirmation;
      if (batch.received > 0) this.#confirmed(batch.received);
      if ('messages' in batch) this.#receive(batch, listener);
    });
  }

  /**
   * Calls the listener with the size of large memory to which only this thread still refers. Transferred buffers are
   * excluded: they are counted, or freed, when they are no longer needed.
   */
  onMemory(listener: (bytes: number) => void): void {
    this.#onMemory = listener;
  }

  #receive(batch: Batch<In>, listener: (message: In, take: TakeBytes) => void): void {
    const { messages, bytes, separate, large, released } = batch;
    let offset = 0;
    let index = 0;
    const take = (length: number) => {
      const buffer = separate?.get(index++);
      // Transferred memory may be transferred again, or freed.
      if (buffer) return makeMovable(Buffer.from(buffer.buffer, buffer.byteOffset, length), { isAlone: true });
      offset += length;
      return Buffer.from(bytes.buffer, bytes.byteOffset + offset - length, length);
    };
    for (const message of messages) listener(message, take);
    const left = large - movedBytes(separate) + released;
    if (left > 0) this.#onMemory?.(left);
    this.#unconfirmed += large;
    if (this.#unconfirmed < MIN_CONFIRMED_BYTES) return;
    this.#port.postMessage({ received: this.#takeUnconfirmed() } satisfies Confirmation, []);
  }

  #takeUnconfirmed(): number {
    const bytes = this.#unconfirmed;
    this.#unconfirmed = 0;
    return bytes;
  }

  #confirmed(bytes: number): void {
    this.#unreceived -= bytes;
    this.#release();
  }

  /** Resolves waiting senders, one per turn: what each sends is counted before the next one. */
  #release(): void {
    if (this.#isReleasing || this.#unreceived > MAX_UNRECEIVED_BYTES) return;
    const next = this.#waiting.shift();
    if (!next) return;
    next();
    this.#isReleasing = true;
    setImmediate(() => {
      this.#isReleasing = false;
      this.#release();
    });
  }

  #add(bytes: Uint8Array): void {
    const index = this.#bufferCount++;
    const shared = isShared(bytes);
    if (!shared && bytes.length >= MIN_LARGE_BYTES) {
      this.#unreceived += bytes.length;
      this.#large += bytes.length;
    }
    if (shared || isMovable(bytes)) {
      this.#separate ??= new Map();
      this.#separate.set(index, bytes);
      if (!shared) this.#moved.push(bytes.buffer as ArrayBuffer);
    } else {
      this.#buffers.push(bytes);
      this.#size += bytes.length;
    }
  }

  #post(): void {
    const bytes = this.#concatenate();
    const batch: Batch<Out> = {
      messages: this.#messages,
      bytes,
      separate: this.#separate,
      large: this.#large,
      released: takeReleasedBytes(),
      received: this.#takeUnconfirmed(),
    };
    const moved = this.#moved;
    if (bytes !== NO_BYTES) moved.push(bytes.buffer);
    this.#messages = [];
    this.#separate = undefined;
    this.#moved = [];
    this.#bufferCount = 0;
    this.#large = 0;
    this.#port.postMessage(batch, moved);
  }

  /** Concatenates into separate memory: Node's buffer pool cannot be transferred. */
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

function movedBytes(separate: ReadonlyMap<number, Uint8Array> | undefined): number {
  let moved = 0;
  if (separate) for (const bytes of separate.values()) if (!isShared(bytes)) moved += bytes.length;
  return moved;
}

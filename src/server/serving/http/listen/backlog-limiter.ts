import { isShared, sharedMemoryNumber } from '../../../../base/bytes/shared-buffer.ts';
import type { Tools } from '../../../../base/tools.ts';
import { type RawSocket, unsentBytes } from '../node-internals.ts';

export interface BacklogLimiterOptions extends Pick<Tools, 'clock' | 'log'> {
  /** Limit for all clients together. */
  readonly maxBytes: number;
  /** Logged when connections are closed. */
  readonly warning: string;
}

/** A reply that its client has not read completely, or a body that it has not finished sending. */
interface Pending {
  readonly connection: RawSocket;
  readonly bytes: number;
  /** Identifies the shared memory that holds the reply. */
  readonly memory: number | undefined;
  readonly since: number;
  /** True when the reply's stream has closed. TLS may still hold some of it. */
  isClosed: boolean;
}

interface SharedMemory {
  readonly bytes: number;
  replies: number;
}

interface ClosableStream {
  once(event: 'close', listener: () => void): unknown;
}

const MIN_COUNTED_BYTES = 1024;
/** Memory that a reply in shared memory takes in addition: the slice that TLS has encrypted. */
const ENCRYPTED_BYTES = 128 * 1024;
/** Size of TLS' write queue up to which a client does not count as slow. */
const TLS_QUEUE_ALLOWANCE_BYTES = 256 * 1024;
/** Age from which pending replies and bodies count as slow, and are closed first. */
const SLOW_AFTER_MS = 5_000;
/** Fraction of the limit above which slow connections are closed. */
const SLOW_FRACTION = 0.25;
const WARNING_INTERVAL_MS = 60_000;

/**
 * Limits the memory held for clients: replies that they do not read, or request bodies that they do not finish. TLS
 * accepts and encrypts whatever it is given, so without a limit a client that sends requests and never reads the
 * replies could take any amount; so could one that starts many bodies. Above a fraction of the limit, connections with
 * old pending data are closed; above the limit, those with the oldest.
 */
export class BacklogLimiter {
  readonly #options: BacklogLimiterOptions;
  /** Pending replies and bodies, oldest first. */
  readonly #pending = new Set<Pending>();
  /** Shared memory by number. */
  readonly #shared = new Map<number, SharedMemory>();
  #bytes = 0;
  #sharedBytes = 0;
  #warnedAt = Number.NEGATIVE_INFINITY;
  /** Sockets by HTTP/2 session, which cannot close its socket itself: it first waits for its bytes to be sent. */
  readonly #sockets = new WeakMap<object, RawSocket>();

  constructor(options: BacklogLimiterOptions) {
    this.#options = options;
  }

  setSocket(session: object, socket: RawSocket): void {
    this.#sockets.set(session, socket);
  }

  /** Counts a request body of this size until `stream` or the connection is closed. */
  add(bytes: number, stream: ClosableStream, connection: RawSocket): void {
    if (bytes >= MIN_COUNTED_BYTES) this.#add({ bytes, memory: undefined }, stream, connection);
  }

  /** Counts a reply until `stream` is closed and it left TLS' queue. Memory shared by clients is counted once. */
  addReply(body: Buffer, stream: ClosableStream, connection: RawSocket): void {
    if (!isShared(body)) {
      this.add(body.length, stream, connection);
      return;
    }
    const memory = sharedMemoryNumber(body);
    const shared = this.#shared.get(memory);
    if (shared) shared.replies++;
    else {
      this.#shared.set(memory, { bytes: body.length, replies: 1 });
      this.#sharedBytes += body.length;
    }
    this.#add({ bytes: ENCRYPTED_BYTES, memory }, stream, connection);
  }

  #add({ bytes, memory }: Pick<Pending, 'bytes' | 'memory'>, stream: ClosableStream, connection: RawSocket): void {
    const socket = this.#sockets.get(connection) ?? connection;
    const pending: Pending = { connection: socket, bytes, memory, since: this.#options.clock.now(), isClosed: false };
    this.#pending.add(pending);
    this.#bytes += bytes;
    stream.once('close', () => {
      pending.isClosed = true;
      if (isSent(pending)) this.#remove(pending);
    });
    if (this.#hasManySlow || this.#isFull) this.#makeRoom();
  }

  /** Reports whether an HTTP/1 reply that was just written has left this process entirely, as most have by then. */
  isSent(response: { readonly writableLength: number }, connection: RawSocket): boolean {
    return response.writableLength === 0 && unsentBytes(connection) === 0;
  }

  #remove(pending: Pending): void {
    if (!this.#pending.delete(pending)) return;
    this.#bytes -= pending.bytes;
    if (pending.memory !== undefined) this.#release(pending.memory);
  }

  #release(memory: number): void {
    const shared = this.#shared.get(memory);
    if (!shared || --shared.replies > 0) return;
    this.#shared.delete(memory);
    this.#sharedBytes -= shared.bytes;
  }

  /** True when slow connections must be closed. Excludes shared memory: a large list may take its only client long. */
  get #hasManySlow(): boolean {
    return this.#bytes > this.#options.maxBytes * SLOW_FRACTION;
  }

  get #isFull(): boolean {
    return this.#bytes + this.#sharedBytes > this.#options.maxBytes;
  }

  #makeRoom(): void {
    const { warning, clock, log } = this.#options;
    for (const pending of this.#pending) if (isSent(pending)) this.#remove(pending);
    const now = clock.now();
    let closed = 0;
    for (const pending of this.#pending) {
      const isSlow = now - pending.since >= SLOW_AFTER_MS;
      if (!this.#isFull && !(isSlow && this.#hasManySlow)) break;
      closed++;
      this.#remove(pending);
      pending.connection.destroy();
    }
    if (closed === 0 || now - this.#warnedAt < WARNING_INTERVAL_MS) return;
    this.#warnedAt = now;
    log.warn(warning, { closed, bytes: this.#bytes + this.#sharedBytes });
  }
}

function isSent({ isClosed, connection }: Pending): boolean {
  return isClosed && unsentBytes(connection) <= TLS_QUEUE_ALLOWANCE_BYTES;
}

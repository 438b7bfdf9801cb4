import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';

export interface HeldOptions {
  /** Bytes of all clients together. */
  readonly limit: number;
  /** What is said of those who are closed. */
  readonly complaint: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A reply that its client has not taken yet, or a body that it has not finished. */
interface Waiting {
  readonly connection: Connection;
  readonly bytes: number;
  readonly since: number;
  /** Of a reply: all of it is with TLS, which may still have some of it. */
  isOver: boolean;
}

/** A socket, as far as it matters here. Node shows what TLS still has only to those who know where to look. */
interface Connection {
  readonly _handle?: { readonly writeQueueSize?: number } | null;
  destroy(): unknown;
}

/** What is so small is not worth counting. */
const SMALL = 1024;
/** Bytes that TLS may have without anybody being slow. */
const SLACK = 256 * 1024;
/** Milliseconds after which something has been held for long. */
const LONG = 5_000;
/** Of the limit, what may be held for long. */
const SHARE = 0.25;
/** Milliseconds between two words about it. */
const QUIET = 60_000;

/**
 * Memory that waits for clients: replies that they have not taken, or bodies that they have not finished. TLS encrypts what it
 * is given, whether the client reads or not, so that clients who ask and do not read could have as much as they like; and so
 * could those who begin many bodies. Beyond a share of the limit those are closed who have kept something for long, and beyond
 * the limit those who have kept something for longest.
 */
export class Held {
  readonly #options: HeldOptions;
  /** The oldest first. */
  readonly #waiting = new Set<Waiting>();
  #bytes = 0;
  #saidAt = Number.NEGATIVE_INFINITY;

  /** Of HTTP/2: a session that is destroyed waits for its bytes to leave, and does not let others touch its socket. */
  readonly #sockets = new WeakMap<object, Connection>();

  constructor(options: HeldOptions) {
    this.#options = options;
  }

  carries(socket: Connection, session: object): void {
    this.#sockets.set(session, socket);
  }

  /** Counts it until it is over and TLS has none of it any more, or its connection is closed. */
  add(bytes: number, held: { once(event: 'close', listener: () => void): unknown }, connection: Connection): void {
    if (bytes < SMALL) return;
    const socket = this.#sockets.get(connection) ?? connection;
    const waiting: Waiting = { connection: socket, bytes, since: this.#options.clock.now(), isOver: false };
    this.#waiting.add(waiting);
    this.#bytes += bytes;
    held.once('close', () => {
      waiting.isOver = true;
      if (hasLeft(waiting)) this.#forget(waiting);
    });
    if (this.#bytes > this.#options.limit * SHARE) this.#makeRoom();
  }

  /** Whether nothing waits of a reply over HTTP/1 that was just written: most are with the kernel by then. */
  hasLeft(response: { readonly writableLength: number }, connection: Connection): boolean {
    return response.writableLength === 0 && backlogOf(connection) === 0;
  }

  #forget(waiting: Waiting): void {
    if (this.#waiting.delete(waiting)) this.#bytes -= waiting.bytes;
  }

  #makeRoom(): void {
    const { limit, complaint, clock, log } = this.#options;
    for (const waiting of this.#waiting) if (hasLeft(waiting)) this.#forget(waiting);
    const now = clock.now();
    let closed = 0;
    for (const waiting of this.#waiting) {
      const isLong = now - waiting.since >= LONG;
      if (this.#bytes <= limit * SHARE || (this.#bytes <= limit && !isLong)) break;
      closed++;
      this.#forget(waiting);
      waiting.connection.destroy();
    }
    if (closed === 0 || now - this.#saidAt < QUIET) return;
    this.#saidAt = now;
    log.warn(complaint, { closed, bytes: this.#bytes });
  }
}

function hasLeft({ isOver, connection }: Waiting): boolean {
  return isOver && backlogOf(connection) <= SLACK;
}

function backlogOf({ _handle: handle }: Connection): number {
  return handle?.writeQueueSize ?? 0;
}

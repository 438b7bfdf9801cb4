import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';

export interface OutgoingOptions {
  /** Bytes of all replies together that may wait for their clients. */
  readonly limit: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A reply that its client has not taken yet. */
interface Waiting {
  readonly connection: Connection;
  readonly bytes: number;
  readonly since: number;
  /** All of it is with TLS, which still has some of it. */
  isWritten: boolean;
}

/** A socket, as far as it matters here. Node shows what TLS still has only to those who know where to look. */
interface Connection {
  readonly _handle?: { readonly writeQueueSize?: number } | null;
  destroy(): unknown;
}

/** Replies this small are not worth counting. */
const SMALL = 1024;
/** Bytes that TLS may have without anybody being slow. */
const SLACK = 256 * 1024;
/** Milliseconds after which a reply has waited for long. */
const LONG = 5_000;
/** Of the limit, what may wait for long. */
const SHARE = 0.25;
/** Milliseconds between two words about it. */
const QUIET = 60_000;

/**
 * Replies on their way. TLS encrypts what it is given, whether the client reads or not, so that clients who ask and do not
 * read could have as much memory as they like. Beyond a share of the limit those are closed who have kept a reply waiting
 * for long, and beyond the limit those who have kept one waiting for longest.
 */
export class Outgoing {
  readonly #options: OutgoingOptions;
  /** The oldest first. */
  readonly #waiting = new Set<Waiting>();
  #bytes = 0;
  #saidAt = Number.NEGATIVE_INFINITY;

  /** Of HTTP/2: a session that is destroyed waits for its bytes to leave, and does not let others touch its socket. */
  readonly #sockets = new WeakMap<object, Connection>();

  constructor(options: OutgoingOptions) {
    this.#options = options;
  }

  carries(socket: Connection, session: object): void {
    this.#sockets.set(session, socket);
  }

  /** Counts a reply until it has left, or its connection is closed. */
  add(bytes: number, reply: { once(event: 'close', listener: () => void): unknown }, connection: Connection): void {
    if (bytes < SMALL) return;
    const socket = this.#sockets.get(connection) ?? connection;
    const waiting: Waiting = { connection: socket, bytes, since: this.#options.clock.now(), isWritten: false };
    this.#waiting.add(waiting);
    this.#bytes += bytes;
    reply.once('close', () => {
      waiting.isWritten = true;
      if (hasLeft(waiting)) this.#forget(waiting);
    });
    if (this.#bytes > this.#options.limit * SHARE) this.#makeRoom();
  }

  #forget(waiting: Waiting): void {
    if (this.#waiting.delete(waiting)) this.#bytes -= waiting.bytes;
  }

  #makeRoom(): void {
    const { limit, clock, log } = this.#options;
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
    log.warn('connections are closed: their clients do not take their replies', {
      replies: closed,
      bytes: this.#bytes,
    });
  }
}

function hasLeft({ isWritten, connection }: Waiting): boolean {
  return isWritten && backlogOf(connection) <= SLACK;
}

function backlogOf({ _handle: handle }: Connection): number {
  return handle?.writeQueueSize ?? 0;
}

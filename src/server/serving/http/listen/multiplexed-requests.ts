/** Concurrent requests on one HTTP/2 session. */
import { getOrInsert } from '../../../../base/collections/get-or-insert.ts';
import type { Http2Exchange } from '../protocol/http2.ts';

/** Limit for the requests of a session served at a time, but for watches and streamed responses that have begun. */
export const MAX_SERVED_STREAMS = 32;

/**
 * Serves the requests of HTTP/2 sessions, only a few of each session concurrently. Further ones wait on the thread that
 * owns the sockets: the thread that handles requests takes them in order of arrival, so a client with hundreds of
 * streams would delay all other clients. A stream that is reset while it waits is never served.
 */
export class MultiplexedRequests {
  readonly #queues = new WeakMap<object, SessionQueue>();
  readonly #serve: (exchange: Http2Exchange) => void;

  constructor(serve: (exchange: Http2Exchange) => void) {
    this.#serve = serve;
  }

  add(session: object, exchange: Http2Exchange): void {
    const queue = getOrInsert(this.#queues, session, () => new SessionQueue(this.#serve));
    queue.add(exchange);
  }
}

class SessionQueue {
  readonly #serve: (exchange: Http2Exchange) => void;
  /** Waiting requests in order of arrival. */
  readonly #waiting = new Set<Http2Exchange>();
  #unanswered = 0;
  #isStarting = false;
  readonly #onAnswered = () => {
    this.#unanswered--;
    if (this.#waiting.size > 0) this.#startWaiting();
  };

  constructor(serve: (exchange: Http2Exchange) => void) {
    this.#serve = serve;
  }

  add(exchange: Http2Exchange): void {
    if (this.#unanswered < MAX_SERVED_STREAMS && this.#waiting.size === 0) this.#start(exchange);
    else {
      this.#waiting.add(exchange);
      exchange.wait(() => this.#waiting.delete(exchange));
    }
  }

  #start(exchange: Http2Exchange): void {
    this.#unanswered++;
    exchange.onAnswered(this.#onAnswered);
    this.#serve(exchange);
  }

  /** Starts waiting requests. One may complete before `#start` returns: the loop then continues with the next. */
  #startWaiting(): void {
    if (this.#isStarting) return;
    this.#isStarting = true;
    for (const exchange of this.#waiting) {
      if (this.#unanswered >= MAX_SERVED_STREAMS) break;
      this.#waiting.delete(exchange);
      if (!exchange.isDisconnected) this.#start(exchange);
    }
    this.#isStarting = false;
  }
}

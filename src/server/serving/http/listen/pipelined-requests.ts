/** Requests on one HTTP/1 connection that the client sends without waiting for earlier responses. */
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { getOrInsert } from '../../../../base/collections/get-or-insert.ts';
import { closeQueued, currentResponse, isPausedByNode, makePausable, whenCurrent } from '../node-internals.ts';

/** Limit for the requests of one connection that are handled while their responses wait for earlier ones. */
export const MAX_CONCURRENT_REQUESTS = 16;
/** Limit for the waiting requests of one connection; at the limit, reading pauses. */
const MAX_QUEUED_REQUESTS = 64;
/** Limit for the waiting requests of all connections. Above it, a connection that exceeds its own limit is closed. */
const MAX_QUEUED_REQUESTS_IN_TOTAL = 10_000;
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Runs the callback when every earlier request on the connection has its response; never if it ends before. */
export function whenAllAnswered(socket: Duplex, then: () => void): void {
  const response = currentResponse(socket);
  if (!response) then();
  else
    response.once('close', () => {
      if (!socket.destroyed) whenAllAnswered(socket, then);
    });
}

interface QueuedRequest {
  readonly response: ServerResponse;
  readonly serve: () => void;
}

/**
 * Serves requests behind others on their connection: at once if neither they nor any before them change anything,
 * otherwise when those have their responses. Only a few are served concurrently, and a connection with many is not
 * read: a client could send a hundred thousand and never read a response. A queued response is closed with its
 * connection, so that nothing keeps working for a disconnected client.
 */
export class PipelinedRequests {
  readonly #queues = new WeakMap<Duplex, ConnectionQueue>();
  readonly #total = { queued: 0 };

  add(socket: Duplex, request: QueuedRequest): void {
    const queue = getOrInsert(this.#queues, socket, () => new ConnectionQueue(socket, this.#total));
    queue.add(request);
  }
}

class ConnectionQueue {
  readonly #socket: Duplex;
  readonly #total: { queued: number };
  /** Responses behind the one being sent. */
  readonly #responses = new Set<ServerResponse>();
  /** Requests that have not been started, in order. */
  #waiting: QueuedRequest[] = [];
  #isPaused = false;

  constructor(socket: Duplex, total: { queued: number }) {
    this.#socket = socket;
    this.#total = total;
    makePausable(socket, () => this.#isPaused);
    socket.once('close', () => {
      this.#total.queued -= this.#responses.size;
      this.#waiting = [];
      for (const response of this.#responses) closeQueued(response);
    });
  }

  add(request: QueuedRequest): void {
    const { response } = request;
    this.#responses.add(response);
    this.#total.queued++;
    this.#waiting.push(request);
    whenCurrent(response, () => {
      this.#responses.delete(response);
      this.#total.queued--;
      if (this.#waiting[0] === request) this.#startFirst();
      this.#startSafe();
      this.#resume();
    });
    this.#startSafe();
    if (this.#responses.size > MAX_QUEUED_REQUESTS) this.#pause();
  }

  /** Starts requests that need not wait for earlier ones. */
  #startSafe(): void {
    const current = currentResponse(this.#socket);
    if (current && !isSafe(current)) return;
    while (this.#waiting.length > 0 && isSafe(this.#waiting[0]!.response)) {
      if (this.#responses.size - this.#waiting.length >= MAX_CONCURRENT_REQUESTS) return;
      this.#startFirst();
    }
  }

  #startFirst(): void {
    this.#waiting.shift()?.serve();
  }

  #pause(): void {
    if (this.#total.queued > MAX_QUEUED_REQUESTS_IN_TOTAL) this.#socket.destroy();
    else {
      this.#isPaused = true;
      this.#socket.pause();
    }
  }

  #resume(): void {
    if (!this.#isPaused || this.#responses.size > MAX_QUEUED_REQUESTS / 2) return;
    this.#isPaused = false;
    // Node itself resumes a connection that it has paused because its responses are not read.
    if (!isPausedByNode(this.#socket)) this.#socket.resume();
  }
}

function isSafe({ req }: ServerResponse): boolean {
  return SAFE_METHODS.has(req.method ?? '');
}

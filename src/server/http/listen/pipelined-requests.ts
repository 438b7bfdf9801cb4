/** Requests that a client sends on one HTTP/1 connection without waiting for the responses to earlier ones. */
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { closeQueued, currentResponse, whenCurrent } from '../node-internals.ts';

/** Runs when every earlier request on the connection has its response; not at all if the connection ends before that. */
export function whenAllAnswered(socket: Duplex, then: () => void): void {
  const response = currentResponse(socket);
  if (!response) then();
  else
    response.once('close', () => {
      if (!socket.destroyed) whenAllAnswered(socket, then);
    });
}

/** Responses that wait for earlier ones on the same connection. */
class ResponseQueue {
  readonly responses = new Set<ServerResponse>();
  /** How many of them belong to requests that may change something. */
  unsafe = 0;
}

const queues = new WeakMap<Duplex, ResponseQueue>();
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Runs `serve` for a request behind others on its connection: at once if neither it nor any of them changes anything,
 * otherwise when they have their responses. A queued response is closed with its connection, so that nothing keeps working
 * for a client that has left.
 */
export function serveInOrder(response: ServerResponse, socket: Duplex, serve: () => void): void {
  const current = currentResponse(socket);
  const queue = queues.get(socket) ?? newQueue(socket);
  const isSafe = isSafeRequest(response);
  if (!isSafe) queue.unsafe++;
  const isConcurrent = isSafe && queue.unsafe === 0 && (!current || isSafeRequest(current));
  queue.responses.add(response);
  whenCurrent(response, () => {
    queue.responses.delete(response);
    if (!isSafe) queue.unsafe--;
    if (!isConcurrent) serve();
  });
  if (isConcurrent) serve();
}

function isSafeRequest({ req }: ServerResponse): boolean {
  return SAFE_METHODS.has(req.method ?? '');
}

function newQueue(socket: Duplex): ResponseQueue {
  const queue = new ResponseQueue();
  queues.set(socket, queue);
  socket.once('close', () => {
    for (const response of queue.responses) closeQueued(response);
  });
  return queue;
}

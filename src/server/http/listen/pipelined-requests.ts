import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** The reply that a client of HTTP/1 gets next: being written, or still worked on. Node keeps it at the socket. */
export function nextReply(socket: Duplex): ServerResponse | undefined {
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}

/** Runs when every request that came before has its reply; not at all when the connection ends before that. */
export function whenAllAnswered(socket: Duplex, then: () => void): void {
  const reply = nextReply(socket);
  if (!reply) then();
  else
    reply.once('close', () => {
      if (!socket.destroyed) whenAllAnswered(socket, then);
    });
}

/** Replies that wait for their turn. */
class Queue {
  readonly replies = new Set<ServerResponse>();
  /** How many of them are to requests that change something. */
  changing = 0;
}

const queues = new WeakMap<Duplex, Queue>();
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Runs `serve` when a request behind others may be worked on: at the same time as they where none of them changes anything,
 * else when they have their replies. A reply that waits for its turn is closed with its connection: Node tells only the one
 * whose turn it is, and the others would be kept for a client that is there no more.
 */
export function inTurn(reply: ServerResponse, socket: Duplex, serve: () => void): void {
  const before = nextReply(socket);
  const queue = queues.get(socket) ?? newQueue(socket);
  const isSafe = !changes(reply);
  if (!isSafe) queue.changing++;
  const isFree = isSafe && queue.changing === 0 && !(before && changes(before));
  queue.replies.add(reply);
  reply.once('socket', () => {
    queue.replies.delete(reply);
    if (!isSafe) queue.changing--;
    if (!isFree) serve();
  });
  if (isFree) serve();
}

function changes({ req }: ServerResponse): boolean {
  return !SAFE.has(req.method ?? '');
}

function newQueue(socket: Duplex): Queue {
  const queue = new Queue();
  queues.set(socket, queue);
  socket.once('close', () => {
    for (const reply of queue.replies) {
      reply.destroy();
      reply.emit('close');
    }
  });
  return queue;
}

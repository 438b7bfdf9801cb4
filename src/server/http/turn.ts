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
const queues = new WeakMap<Duplex, Set<ServerResponse>>();

/**
 * Closes a reply with its connection, also while it waits for its turn: Node tells only the one whose turn it is, and the
 * others would be kept for a client that is there no more.
 */
export function closeWithConnection(reply: ServerResponse, socket: Duplex): void {
  if (reply.socket) return;
  const queue = queues.get(socket) ?? newQueue(socket);
  queue.add(reply);
  reply.once('socket', () => queue.delete(reply));
}

function newQueue(socket: Duplex): Set<ServerResponse> {
  const queue = new Set<ServerResponse>();
  queues.set(socket, queue);
  socket.once('close', () => {
    for (const reply of queue) {
      reply.destroy();
      reply.emit('close');
    }
  });
  return queue;
}

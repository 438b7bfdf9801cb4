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

import type { Duplex } from 'node:stream';
import { hasReceivedFin } from '../node-internals.ts';

/**
 * Destroys a socket that nothing reads yet as soon as its client closes it. Data that arrives in the meantime stays in
 * the stream's buffer, up to its high-water mark. Returns a function that stops watching and leaves the socket to its
 * next reader.
 */
export function closeOnDisconnect(socket: Duplex): () => void {
  const check = () => {
    if (hasReceivedFin(socket)) socket.destroy();
  };
  socket.on('readable', check);
  return () => {
    socket.off('readable', check);
  };
}

import type { Duplex } from 'node:stream';
import { hasReceivedFin } from '../node-internals.ts';

/** Destroys a socket that nothing reads yet when its client closes it. Returns a function that stops watching. */
export function closeOnDisconnect(socket: Duplex): () => void {
  const check = () => {
    if (hasReceivedFin(socket)) socket.destroy();
  };
  socket.on('readable', check);
  return () => {
    socket.off('readable', check);
  };
}

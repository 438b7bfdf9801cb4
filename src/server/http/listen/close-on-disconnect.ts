import type { Duplex } from 'node:stream';

/**
 * Closes a socket that nobody reads yet when its client leaves: of that one hears only by reading. What comes meanwhile is
 * kept, up to what a stream keeps. The result gives the socket free, for whoever reads it next.
 */
export function closeWhenLeft(socket: Duplex): () => void {
  const { _readableState: state } = socket as unknown as { readonly _readableState: { readonly ended: boolean } };
  const look = () => {
    // The stream itself says so only when all that came before has been read.
    if (state.ended) socket.destroy();
  };
  socket.on('readable', look);
  return () => {
    socket.off('readable', look);
  };
}

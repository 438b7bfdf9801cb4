import type { ClientRequest } from 'node:http';

/**
 * Fails a request that did not ask for another protocol when the server switches to one. Node would close the
 * connection without emitting a response or an error, so the caller would wait forever.
 */
export function refuseUpgrade(request: ClientRequest): void {
  request.on('upgrade', (_response, socket) => {
    // Node has released the socket, and nothing else handles its errors.
    socket.on('error', () => undefined);
    socket.destroy();
    request.emit('error', new Error('the server switched to another protocol'));
  });
}

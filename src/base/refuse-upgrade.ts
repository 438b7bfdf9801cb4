import type { ClientRequest } from 'node:http';

/**
 * Fails a request that did not ask for another protocol when the server switches to one. Node would close the connection, and emit
 * neither a response nor an error, so that the caller would wait for ever.
 */
export function refuseUpgrade(request: ClientRequest): void {
  request.on('upgrade', (_response, socket) => {
    // Node has let go of the socket: nobody else listens to it.
    socket.on('error', () => undefined);
    socket.destroy();
    request.emit('error', new Error('the server switched to another protocol'));
  });
}

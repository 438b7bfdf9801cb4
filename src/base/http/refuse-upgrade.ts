import type { ClientRequest } from 'node:http';

/** Fails a request when the server switches protocols: Node would close the connection without a word. */
export function refuseUpgrade(request: ClientRequest): void {
  request.on('upgrade', (_response, socket) => {
    // Node has released the socket, and nothing else handles its errors.
    socket.on('error', () => undefined);
    socket.destroy();
    request.emit('error', new Error('the server switched to another protocol'));
  });
}

import { type Duplex, Writable } from 'node:stream';
import { WebSocketConnection } from '../../protocols/websocket/connection.ts';

export const WEBSOCKET_TEXT_PROTOCOLS = ['binary.k8s.io', 'base64.binary.k8s.io'];

/**
 * Sends the written text as WebSocket messages, as fast as the client reads them. The first message is empty: it shows
 * the client that the connection is open before there is any text. Messages from the client are ignored.
 */
export function websocketText(socket: Duplex, { isBase64 }: { readonly isBase64: boolean }): Writable {
  const connection = new WebSocketConnection(socket, { onData: () => undefined });
  const out = new Writable({
    write(chunk: Buffer, _encoding, done) {
      connection.send([isBase64 ? Buffer.from(chunk.toString('base64')) : chunk], { isText: isBase64, done });
    },
    final(done) {
      connection.close();
      done();
    },
    destroy(error, done) {
      connection.destroy();
      done(error);
    },
    // Destroying the socket before the client has closed the connection would lose data.
    autoDestroy: false,
  });
  connection.send([], { isText: isBase64 });
  void connection.closed.then(() => out.destroy());
  return out;
}

import { Duplex, PassThrough } from 'node:stream';
import { WebSocketConnection } from '../../protocols/websocket/connection.ts';
import { written } from './websocket-channels.ts';

/** Limit for the bytes buffered in each direction. */
const BUFFERED_BYTES = 256 * 1024;

/** A byte stream over the binary messages of a WebSocket, whose boundaries mean nothing. */
export function websocketTunnel(socket: Duplex): Duplex {
  const incoming = new PassThrough({ highWaterMark: BUFFERED_BYTES });
  const connection = new WebSocketConnection(socket, { onData: ({ bytes }) => written(incoming, bytes) });
  const tunnel = new Duplex({
    highWaterMark: BUFFERED_BYTES,
    read: () => incoming.resume(),
    write: (bytes: Buffer, _encoding, done) => connection.send([bytes], { done }),
    // A frame and its head make one message.
    writev: (chunks, done) =>
      connection.send(
        chunks.map(({ chunk }) => chunk as Buffer),
        { done },
      ),
    final: (done) => {
      connection.close();
      done();
    },
    destroy: (error, done) => {
      connection.destroy();
      done(error);
    },
  });
  incoming.on('data', (bytes: Buffer) => {
    if (!tunnel.push(bytes)) incoming.pause();
  });
  void connection.closed.then(() => {
    if (!tunnel.destroyed) tunnel.push(null);
  });
  return tunnel;
}

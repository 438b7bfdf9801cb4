/** Forwarded ports over a WebSocket: a data channel and an error channel for each port, both opened at once. */
import { Duplex } from 'node:stream';
import { WebSocketConnection } from '../../protocols/websocket/connection.ts';
import { joined } from './joined.ts';
import type { PortForwarder } from './spdy-ports.ts';
import { ChannelReader, messageSender, type SendMessage } from './websocket-channels.ts';

export const WEBSOCKET_PORT_PROTOCOLS = [
  'v4.channel.k8s.io',
  'v4.base64.channel.k8s.io',
  'portforward.k8s.io',
] as const;

/** Limit for the bytes buffered in each direction of a port, and of all ports together. */
const MAX_BUFFERED_BYTES = 256 * 1024;
const MAX_ALL_BUFFERED_BYTES = 4 * 1024 * 1024;

interface WebSocketPortsOptions {
  readonly isBase64: boolean;
  readonly ports: readonly number[];
  readonly forwarder: PortForwarder;
}

/** Serves a client until it disconnects. Never rejects. */
export async function serveWebSocketPorts(
  socket: Duplex,
  { isBase64, ports, forwarder }: WebSocketPortsOptions,
): Promise<void> {
  const data: PortChannel[] = [];
  const channels = new ChannelReader(isBase64, (channel, bytes) => {
    const target = channel % 2 === 0 ? data[channel / 2] : undefined;
    return target?.receive(bytes);
  });
  const connection = new WebSocketConnection(socket, { onData: (piece) => channels.push(piece) });
  const send = messageSender(connection, isBase64);
  const forwarded = ports.map(async (port, index) => {
    const number = Buffer.alloc(2);
    number.writeUInt16LE(port);
    send(2 * index, number);
    send(2 * index + 1, number);
    const channel = new PortChannel(
      2 * index,
      send,
      Math.min(MAX_BUFFERED_BYTES, MAX_ALL_BUFFERED_BYTES / ports.length),
    );
    data.push(channel);
    void connection.closed.then(() => channel.destroy());
    try {
      await joined(channel, await forwarder.connect(port));
    } catch (error) {
      send(2 * index + 1, Buffer.from(forwarder.describe(port, error as Error)));
      channel.destroy();
    }
  });
  void Promise.all(forwarded).then(() => connection.close());
  await connection.closed;
}

/** A forwarded port of a client. It ends only with the connection: the protocol cannot close a channel. */
class PortChannel extends Duplex {
  #wake: (() => void) | undefined;

  constructor(
    private readonly channel: number,
    private readonly send: SendMessage,
    bufferedBytes: number,
  ) {
    super({ highWaterMark: Math.floor(bufferedBytes) });
    this.on('error', () => undefined);
  }

  receive(bytes: Buffer): Promise<void> | undefined {
    if (this.destroyed || this.push(bytes)) return undefined;
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  override _read(): void {
    this.#continue();
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.send(this.channel, bytes, done);
  }

  override _final(done: () => void): void {
    // The port has closed: nothing more can arrive for it.
    this.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#continue();
    done(error);
  }

  #continue(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}

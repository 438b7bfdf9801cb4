/** The channels of a command over a WebSocket: the first byte of a message, or its first character in base64, is the channel. */
import { type Duplex, PassThrough, Writable } from 'node:stream';
import { type Clock, sleep } from '../../base/time/clock.ts';
import { type DataPiece, WebSocketConnection } from '../../protocols/websocket/connection.ts';
import { type CommandChannels, type CommandStreams, ResizeReader } from './command-channels.ts';
import type { CommandStatus } from './command-status.ts';

/** The properties in which the versions of the protocol differ. */
export interface WebSocketProtocol {
  readonly name: string | undefined;
  /** Messages are text: the channel as a digit, then base64. */
  readonly isBase64: boolean;
  /** True when the exit status is sent as a Status instead of text. */
  readonly hasStatus: boolean;
  /** True when the client can close a channel, with a message on channel 255 that names it. */
  readonly hasClose: boolean;
}

export const WEBSOCKET_PROTOCOLS: readonly WebSocketProtocol[] = [
  { name: 'v5.channel.k8s.io', isBase64: false, hasStatus: true, hasClose: true },
  { name: 'v4.channel.k8s.io', isBase64: false, hasStatus: true, hasClose: false },
  { name: 'v4.base64.channel.k8s.io', isBase64: true, hasStatus: true, hasClose: false },
  { name: 'channel.k8s.io', isBase64: false, hasStatus: false, hasClose: false },
  { name: 'base64.channel.k8s.io', isBase64: true, hasStatus: false, hasClose: false },
];

/** The protocol of clients that name none. */
export const UNNAMED_PROTOCOL: WebSocketProtocol = {
  name: undefined,
  isBase64: false,
  hasStatus: false,
  hasClose: false,
};

/**
 * Time after the handshake during which output is held back. kubectl before 1.34 starts to read before its channels are
 * set up, and discards data that arrives for them: a command that ends at once would print nothing.
 */
const FIRST_OUTPUT_DELAY_MS = 20;

const Channel = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

export function websocketChannels(
  socket: Duplex,
  { protocol, streams, clock }: { protocol: WebSocketProtocol; streams: CommandStreams; clock: Clock },
): CommandChannels {
  const isReading = sleep(clock, FIRST_OUTPUT_DELAY_MS);
  const stdin = streams.stdin ? new PassThrough() : undefined;
  const resize = new ResizeReader();
  const channels = new ChannelReader(protocol.isBase64, (channel, bytes) => {
    if (channel === Channel.stdin && stdin && !stdin.writableEnded) return written(stdin, bytes);
    if (channel === Channel.resize) resize.push(bytes);
    else if (channel === Channel.close && protocol.hasClose && bytes[0] === Channel.stdin) stdin?.end();
    return undefined;
  });
  const connection = new WebSocketConnection(socket, { onData: (piece) => channels.push(piece) });
  const send = messageSender(connection, protocol.isBase64);
  const output = (channel: number) =>
    new Writable({
      construct: (done) => void isReading.then(() => done()),
      write: (bytes: Buffer, _encoding, done) => send(channel, bytes, done),
    });
  const stdout = streams.stdout ? output(Channel.stdout) : undefined;
  const stderr = streams.stderr ? output(Channel.stderr) : undefined;
  // Tells the client that the connection is established.
  send(stdout ? Channel.stdout : stderr ? Channel.stderr : Channel.error, Buffer.alloc(0));
  const closed = connection.closed.then(() => stdin?.destroy());
  return {
    stdin,
    stdout,
    stderr,
    closed,
    onResize: (listener) => resize.onResize(listener),
    finish: (status) => {
      void isReading.then(() => {
        const report = reportOf(status, protocol.hasStatus);
        if (report) send(Channel.error, Buffer.from(report));
        connection.close();
      });
    },
    destroy: () => connection.destroy(),
  };
}

/** Older protocols report failures only, and as text. */
export function reportOf(status: CommandStatus, hasStatus: boolean): string | undefined {
  if (hasStatus) return JSON.stringify(status);
  return status.status === 'Success' ? undefined : status.message;
}

export type SendMessage = (channel: number, bytes: Buffer, done?: () => void) => void;

export function messageSender(connection: WebSocketConnection, isBase64: boolean): SendMessage {
  return (channel, bytes, done) => {
    const options = done ? { done, isText: isBase64 } : { isText: isBase64 };
    if (isBase64) connection.send([Buffer.from(`${channel}${bytes.toString('base64')}`)], options);
    else connection.send([Buffer.from([channel]), bytes], options);
  };
}

/** Waits when the reader is slow; what is written to a stream that has ended is discarded. */
export function written(stream: Writable, bytes: Buffer): Promise<void> | undefined {
  if (stream.destroyed || stream.writableEnded || bytes.length === 0 || stream.write(bytes)) return undefined;
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
  });
}

type OnBytes = (channel: number, bytes: Buffer) => Promise<void> | undefined;

/** Reads messages, which arrive in pieces, and divides them by channel. */
export class ChannelReader {
  #channel: number | undefined;
  /** Base64 characters that do not make whole bytes yet. */
  #rest = '';

  constructor(
    private readonly isBase64: boolean,
    private readonly onBytes: OnBytes,
  ) {}

  push({ bytes, isStart, isEnd }: Pick<DataPiece, 'bytes' | 'isStart' | 'isEnd'>): Promise<void> | undefined {
    if (isStart) {
      this.#channel = undefined;
      this.#rest = '';
    }
    let payload = bytes;
    if (this.#channel === undefined) {
      if (bytes.length === 0) return undefined;
      this.#channel = this.isBase64 ? bytes[0]! - 0x30 : bytes[0]!;
      payload = bytes.subarray(1);
    }
    if (this.isBase64) payload = this.#decode(payload, isEnd);
    return payload.length === 0 ? undefined : this.onBytes(this.#channel, payload);
  }

  #decode(bytes: Buffer, isEnd: boolean): Buffer {
    const text = this.#rest + bytes.toString('latin1');
    const whole = isEnd ? text.length : text.length - (text.length % 4);
    this.#rest = text.slice(whole);
    return Buffer.from(text.slice(0, whole), 'base64');
  }
}

/**
 * The messages between the two threads. The front thread owns sockets, TLS and HTTP (`front-thread.ts`); the API thread
 * runs everything behind them, and sees the front thread as `remote-listeners.ts`. Neither interprets requests here.
 *
 * Messages of one turn of the event loop travel together (`batched-port.ts`). The bytes of a message are not in it but
 * beside it, in the order of the messages: a message only has their number.
 */
import type { AddressInfo } from 'node:net';
import type { LogFields } from '../../../../base/log.ts';
import type { ClientCertificate } from '../../../access/authn/certificate.ts';
import type { HeaderList, WatchFraming } from '../../exchange.ts';
import type { Limits } from '../limits.ts';
import type { Tls } from '../listen/listeners.ts';

/** The location of a request's body: there is none, it came with the request, or it must be requested. */
export type BodyLocation = 'none' | 'included' | 'unread';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Exchanges whose client has gone or has its whole response, of which this is the last message; closed connections. */
export type EndedMessage = readonly ['ended', exchanges: number[], connections: number[]];

/** A message from the front thread to the API thread. `id` is that of an exchange. */
export type FrontMessage =
  /** A connection that is about to send its first request. */
  | readonly [
      'connected',
      connection: number,
      address: string,
      certificate: ClientCertificate | undefined,
      isUnsecured: boolean,
    ]
  | EndedMessage
  /** A request, with the bytes of its body if that is included. */
  | readonly ['request', id: number, connection: number, RequestHead, bytes: number]
  | readonly ['body', id: number, bytes: number]
  /** The body could not be read. The code is that of the response; 0 if the client has disconnected. */
  | readonly ['body-failed', id: number, code: number, message: string]
  /** A WebSocket was opened for a watch. */
  | readonly ['watch-started', id: number]
  /** Total number of bytes of a streamed response that have been sent. */
  | readonly ['sent', id: number, total: number]
  /** Bytes that the client sent after an upgrade, or bytes of a streamed body. */
  | readonly ['data', id: number, bytes: number]
  /** The end of these bytes. */
  | readonly ['data-end', id: number]
  /** Everything sent before the `turn` message was written, and everything received by then was announced. */
  | readonly ['turned', request: number]
  /** Asks when the next connection from this address may be served. */
  | readonly ['pace', request: number, address: string]
  | readonly ['counts', open: number, refused: number]
  /** A report of work that blocked the front thread. */
  | readonly ['blocked', work: string, milliseconds: number, LogFields]
  | readonly ['log', 'debug' | 'info' | 'warn' | 'error', message: string, LogFields]
  /** A command was carried out. */
  | readonly ['done', command: number, address: AddressInfo | undefined]
  /** A command failed. The code is the system's, such as EADDRINUSE: an Error sent to another thread loses it. */
  | readonly ['failed', command: number, message: string, code: string | undefined];

/** A message from the API thread to the front thread. */
export type ApiMessage =
  | readonly ['open', tls: Tls, limits: Limits, isPaced: boolean]
  | readonly ['listen', command: number, port: number, host: string, isUnsecured: boolean]
  | readonly ['renew', tls: Partial<Tls>]
  | readonly ['close', command: number]
  /** The answer to `pace`. */
  | readonly ['proceed', request: number]
  | readonly ['turn', request: number]
  | readonly ['reply', id: number, code: number, contentType: string, HeaderList, bytes: number]
  | readonly ['watch', id: number, contentType: string, HeaderList]
  /** The same events for several watches, with the number of bytes of each event. */
  | readonly ['events', ids: number[], bytes: readonly number[]]
  /** Starts a streamed response; `chunk` and `end` follow. */
  | readonly ['response', id: number, code: number, HeaderList]
  | readonly ['chunk', id: number, bytes: number]
  /** Switches to another protocol; `chunk` and `end` follow. */
  | readonly ['upgrade', id: number, HeaderList]
  /** Total number of bytes of `data` that have been consumed. */
  | readonly ['consumed', id: number, total: number]
  /** Ends a streamed response. */
  | readonly ['end', id: number]
  | readonly ['read-body', id: number]
  /** Requests the body as a stream: `data` and `data-end` follow. */
  | readonly ['stream-body', id: number]
  | readonly ['close-after-response', id: number]
  | readonly ['abort', id: number];

export interface RequestHead {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  /** A bearer token from a WebSocket subprotocol. */
  readonly token: string | undefined;
  readonly body: BodyLocation;
  readonly watchFraming: WatchFraming;
}

/** Limit for the bytes of a stream in transit between the threads, in each direction. */
export const MAX_IN_FLIGHT_BYTES = 256 * 1024;

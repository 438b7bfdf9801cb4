/**
 * The messages between the two threads. The front thread owns sockets, TLS and HTTP (`front-thread.ts`); the API thread runs
 * everything behind them, and sees the front thread as `remote-listeners.ts`. Neither looks into what requests mean here.
 *
 * Messages of one turn of the event loop travel together (`batched-port.ts`). The bytes that belong to a message are not in
 * it but beside it, in the order of the messages: a message only says how many are its own.
 */
import type { AddressInfo } from 'node:net';
import type { LogFields } from '../../../../base/log.ts';
import type { ClientCertificate } from '../../../access/authn/certificate.ts';
import type { HeaderList, WatchFraming } from '../../exchange.ts';
import type { Limits } from '../limits.ts';
import type { Tls } from '../listen/listeners.ts';

/** Where a request's body is: there is none, it came with the request, or it must be asked for. */
export type BodyLocation = 'none' | 'included' | 'unread';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** From the front thread to the API thread. `id` is that of an exchange. */
export type FrontMessage =
  /** A connection that is about to send its first request. */
  | readonly [
      'connected',
      connection: number,
      address: string,
      certificate: ClientCertificate | undefined,
      isUnsecured: boolean,
    ]
  | readonly ['disconnected', connection: number]
  /** With the bytes of its body, if that is included. */
  | readonly ['request', id: number, connection: number, RequestHead, bytes: number]
  | readonly ['body', id: number, bytes: number]
  /** The body could not be read. The code is that of the response; 0 if the client has disconnected. */
  | readonly ['body-failed', id: number, code: number, message: string]
  /** The client has disconnected, or the response has ended. The last message about this exchange. */
  | readonly ['closed', id: number]
  /** A WebSocket was opened for a watch. */
  | readonly ['watch-started', id: number]
  /** How many bytes of a streamed response have been sent in all. */
  | readonly ['sent', id: number, total: number]
  /** Bytes that the client sent after its request was upgraded, or of a body that is streamed. */
  | readonly ['data', id: number, bytes: number]
  /** The client sends no more of them. */
  | readonly ['data-end', id: number]
  /** Everything said before the `turn` message was written, and everything received by then was said. */
  | readonly ['turned', request: number]
  /** Asks when the next connection from this address may be served. */
  | readonly ['pace', request: number, address: string]
  | readonly ['counts', open: number, refused: number]
  /** Work blocked the front thread. */
  | readonly ['blocked', work: string, milliseconds: number, LogFields]
  | readonly ['log', 'debug' | 'info' | 'warn' | 'error', message: string, LogFields]
  /** A command has been carried out. */
  | readonly ['done', command: number, address: AddressInfo | undefined]
  /** A command failed. The code is the system's, such as EADDRINUSE: an Error sent to another thread loses it. */
  | readonly ['failed', command: number, message: string, code: string | undefined];

/** From the API thread to the front thread. */
export type ApiMessage =
  | readonly ['open', tls: Tls, limits: Limits, isPaced: boolean]
  | readonly ['listen', command: number, port: number, host: string, isUnsecured: boolean]
  | readonly ['renew', tls: Partial<Tls>]
  | readonly ['close', command: number]
  /** Answers `pace`. */
  | readonly ['proceed', request: number]
  | readonly ['turn', request: number]
  | readonly ['reply', id: number, code: number, contentType: string, HeaderList, bytes: number]
  | readonly ['watch', id: number, contentType: string, HeaderList]
  /** The same events for several watches, with the bytes of each event. */
  | readonly ['events', ids: number[], bytes: readonly number[]]
  /** Starts a streamed response; `chunk` and `end` follow. */
  | readonly ['response', id: number, code: number, HeaderList]
  | readonly ['chunk', id: number, bytes: number]
  /** Switches to another protocol; `chunk` and `end` follow. */
  | readonly ['upgrade', id: number, HeaderList]
  /** How many bytes of `data` have been used in all. */
  | readonly ['consumed', id: number, total: number]
  /** Ends a streamed response. */
  | readonly ['end', id: number]
  | readonly ['read-body', id: number]
  /** Asks for the body as it arrives: `data` and `data-end` follow. */
  | readonly ['stream-body', id: number]
  | readonly ['close-after-response', id: number]
  | readonly ['abort', id: number];

/** A request without its body. */
export interface RequestHead {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  /** A bearer token from a WebSocket subprotocol. */
  readonly token: string | undefined;
  readonly body: BodyLocation;
  readonly watchFraming: WatchFraming;
}

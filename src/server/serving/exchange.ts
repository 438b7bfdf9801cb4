import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { WatchConsumer } from '../../api/reply.ts';
import type { Credentials } from '../access/authn/authenticator.ts';
import type { ClientCertificate } from '../access/authn/certificate.ts';

/** Alternating header names and values. */
export type HeaderList = readonly string[];

export const NO_HEADERS: HeaderList = Object.freeze([]);

/** Size from which a response is large: it holds memory until its client has read it. */
export const LARGE_RESPONSE_BYTES = 64 * 1024;

/** The Cache-Control header of every response: each is one client's view at one moment. */
export const CACHE_CONTROL = 'no-cache, private';

/** The framing of watch events: as lines of one response, or as WebSocket frames. */
export type WatchFraming = 'lines' | 'frames';

/** The head of the response to a watch. A WebSocket has none. */
export interface WatchHead {
  readonly contentType: string;
  readonly extra: HeaderList;
}

/** Encoded watch events: one by one, and all of them in one buffer, as lines or in another framing. */
export interface EventBytes {
  readonly events: readonly { json(): Buffer }[];
  json(): Buffer;
}

/** Writes watch events to a client, independent of their content. */
export interface EventWriter extends WatchConsumer {
  onProgress(listener: () => void): void;
  events(batch: EventBytes): void;
}

export interface Peer {
  readonly address: string;
  readonly certificate: ClientCertificate | undefined;
  /** True for a client of the port without TLS, which does not authenticate. */
  readonly isUnsecured: boolean;
}

/** A request and its response, independent of the protocol: HTTP/1, HTTP/2 or WebSocket. */
export interface Exchange extends Credentials {
  readonly method: string;
  /** Path and query, as sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly peer: Peer;
  /** Headers of the response, whatever it is. */
  responseHeaders: HeaderList;
  readonly isDisconnected: boolean;
  /** True while a large part of the response has not been read by the client. */
  readonly hasUnsentResponse: boolean;
  readonly watchFraming: WatchFraming;
  /** Aborted when the client disconnects before it has its response. Created on first use. */
  readonly signal: AbortSignal;
  /** Status code of the response; 0 until there is one. */
  readonly code: number;
  /** Reports whether the request has a body, received or not. */
  hasBody(): boolean;
  /** Reads the whole body. Rejects if it is too large or too slow, or if the client disconnects. */
  body(): Promise<Buffer>;
  /** Returns the body as a stream with back-pressure, readable while a response is sent. Its size is not limited. */
  bodyStream(): Readable;
  /** Returns a promise until a large response can be sent; undefined if it can. Await it before encoding. */
  room(): Promise<void> | undefined;
  reply(code: number, contentType: string, body: Buffer, extra?: HeaderList): void;
  /**
   * Switches to another protocol: sends the response with code 101 and these headers, and returns the connection.
   * Throws a BadRequest if the client did not request it, or cannot have it.
   */
  startWatch(head: WatchHead, onClose: () => void): EventWriter | Promise<EventWriter>;
  /** Starts a streamed response with exactly these headers, which the caller writes and ends. */
  startResponse(code: number, headers: HeaderList): Writable;
  /** Starts a streamed text response, which the caller writes and ends. */
  startText(contentType: string, extra: HeaderList): Writable;
  /**
   * Switches to another protocol: sends the response with code 101 and these headers, and returns the connection. Throws a
   * BadRequest if the client did not request it, or cannot have it.
   */
  upgrade(headers: HeaderList): Duplex;
  /** Runs once, when the client has disconnected or has its whole response. Not called for an open WebSocket. */
  onClose(listener: () => void): void;
  /** Closes the connection, or the HTTP/2 session, after this response. */
  closeAfterResponse(): void;
  /** Drops the client, discarding its pending response. */
  abort(): void;
}

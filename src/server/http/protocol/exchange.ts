import type { IncomingHttpHeaders } from 'node:http';
import type { Writable } from 'node:stream';
import type { WatchConsumer } from '../../api.ts';
import type { Credentials } from '../../authn/authenticator.ts';
import type { ClientCertificate } from '../../authn/certificate.ts';

/** Header names and values in turn, beyond those that every reply has. */
export type ExtraHeaders = readonly string[];

export const NO_HEADERS: ExtraHeaders = Object.freeze([]);

/** A reply of so many bytes that not taking it holds memory. */
export const LARGE_REPLY = 64 * 1024;

/** Every reply is one client's view at one moment. */
export const CACHE_CONTROL = 'no-cache, private';

export type WatchForm = 'lines' | 'frames';

/** Events as they are written: each for itself, and all of them as lines in one piece. */
export interface EventBytes {
  readonly events: readonly { json(): Buffer }[];
  json(): Buffer;
}

/** Whoever writes a watch to its client: it need not know what the bytes are about. */
export interface EventWriter extends WatchConsumer {
  events(batch: EventBytes): void;
}

/** The other end of a connection. */
export interface Peer {
  readonly address: string;
  readonly certificate: ClientCertificate | undefined;
  /** Whether it came through the port without TLS, where nobody is asked who he is. */
  readonly isUnsecured: boolean;
}

/** One request and its reply, whatever the protocol beneath: HTTP/1, HTTP/2 or a WebSocket. */
export interface Exchange extends Credentials {
  readonly method: string;
  /** Path and query, as sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly peer: Peer;
  /** Headers that the reply has, whatever it is. */
  standing: ExtraHeaders;
  /** Whether the client has left. */
  readonly isGone: boolean;
  /** Whether a large part of the reply still waits for the client to take it. */
  readonly isUnsent: boolean;
  /** How events are written, if it is a watch: as lines, or as the frames of a WebSocket. */
  readonly watchForm: WatchForm;
  /** Aborted when the client goes before it has its reply. Made when somebody asks for it. */
  readonly signal: AbortSignal;
  /** Of the reply; 0 as long as there is none. */
  readonly code: number;
  /** Whether a body came, or is still to come. */
  hasBody(): boolean;
  /** The whole body. Fails when it is too large, too slow, or the client goes. */
  body(): Promise<Buffer>;
  reply(code: number, contentType: string, body: Buffer, extra?: ExtraHeaders): void;
  /** Starts a reply that goes on; `gone` runs once when the client has left or the reply has ended. */
  startWatch(extra: ExtraHeaders, gone: () => void): EventWriter | Promise<EventWriter>;
  /** Starts a reply of text, which whoever asked for it writes and ends. */
  startText(contentType: string, extra: ExtraHeaders): Writable;
  /** Runs once, when the client has left or has all of its reply. Of a WebSocket nothing is heard here. */
  whenGone(listener: () => void): void;
  /** The reply must be the last one on its connection. */
  lastOne(): void;
  /** Gives the client up, and what it was to get. */
  abandon(): void;
}

/**
 * Sockets in a thread of their own. This folder splits the way of a request between two threads: the front owns sockets,
 * TLS and HTTP (`front.ts`), the back owns everything behind it (`back.ts`), and what they tell each other are the words of
 * this file. What a request means is nobody's business here.
 *
 * All words of one turn of the event loop travel in one parcel (`mailbox.ts`). Bytes that belong to a word are not in it but
 * in the parcel, in the order of the words: a word says only how many are its own.
 */
import type { AddressInfo } from 'node:net';
import type { LogFields } from '../../../base/log.ts';
import type { ClientCertificate } from '../../authn/certificate.ts';
import type { Limits } from '../limits.ts';
import type { Tls } from '../listen/listeners.ts';
import type { ExtraHeaders, WatchForm } from '../protocol/exchange.ts';

/** Where a request's body is. */
export type BodyPlace = 'none' | 'here' | 'unread';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** What the front says. Numbers are those of exchanges, unless they are said to be others. */
export type FrontWord =
  /** A connection that is about to have its first request. Its number is its own. */
  | readonly ['connection', number, address: string, certificate: ClientCertificate | undefined, isUnsecured: boolean]
  | readonly ['disconnected', connection: number]
  /** With as many bytes of body, where it is here. */
  | readonly ['request', number, connection: number, Asked, bytes: number]
  | readonly ['body', number, bytes: number]
  /** A body that could not be read, with the code of the answer; 0 when the client has left. */
  | readonly ['bodyless', number, code: number, message: string]
  /** The client has left, or the reply has ended: no more is heard of it. */
  | readonly ['gone', number]
  /** A watch that had to be negotiated goes on. */
  | readonly ['started', number]
  /** So many bytes of what was to be written in all have left. */
  | readonly ['taken', number, total: number]
  /** What was said before the back asked for a turn has been written, and what had come by then was said. */
  | readonly ['turned', question: number]
  /** May the next connection of this address be served? The number is the question's. */
  | readonly ['pace', number, address: string]
  | readonly ['counts', open: number, refused: number]
  | readonly ['log', 'debug' | 'info' | 'warn' | 'error', message: string, LogFields]
  /** Something that was asked for is done. The number is the order's. */
  | readonly ['done', number, address: AddressInfo | undefined]
  /** The code is the system's, such as EADDRINUSE: of an error, a message between threads keeps only its text. */
  | readonly ['failed', number, message: string, code: string | undefined];

/** What the back says. */
export type BackWord =
  | readonly ['open', tls: Tls, limits: Limits, isPaced: boolean]
  | readonly ['listen', order: number, port: number, host: string, isUnsecured: boolean]
  | readonly ['renew', tls: Pick<Tls, 'key' | 'cert'>]
  | readonly ['close', order: number]
  | readonly ['go', question: number]
  | readonly ['turn', question: number]
  | readonly ['reply', number, code: number, contentType: string, ExtraHeaders, bytes: number]
  | readonly ['watch', number, ExtraHeaders]
  /** The same events for several watches: the bytes of each event. */
  | readonly ['events', exchanges: number[], bytes: readonly number[]]
  | readonly ['text', number, contentType: string, ExtraHeaders]
  | readonly ['piece', number, bytes: number]
  /** A reply that went on is complete. */
  | readonly ['end', number]
  | readonly ['read', number]
  | readonly ['last', number]
  | readonly ['abandon', number];

/** A request's head. */
export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  /** From where only a browser puts it. */
  readonly token: string | undefined;
  readonly body: BodyPlace;
  readonly watchForm: WatchForm;
}

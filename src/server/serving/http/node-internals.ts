/**
 * Everything in this program that relies on undocumented behaviour of Node's http, http2, net and stream modules, and
 * of V8. No other file reads underscored fields or calls undocumented methods of Node.
 *
 * Tested with Node 20, 22, 24 and 26. `node-internals.isolated.test.ts` checks every assumption made here, and
 * `test/node-releases/` runs it, together with the built program, on each release that `engines` allows.
 */
import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Http2SecureServer, ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** A plain HTTP/1 server, or a TLS server for HTTP/2 that also accepts HTTP/1. */
export type NodeServer = Server | Http2SecureServer;

// ── Memory

let collect: (() => void) | undefined;

/** Collects the garbage of this thread. The first call makes V8's collector available, which takes a few milliseconds. */
export function collectGarbage(): void {
  if (!collect) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
    // V8 rejects compiled code if the flags differ from those of its compilation: both Node's code and ours.
    setFlagsFromString('--no-expose-gc');
  }
  collect();
}

// ── Sockets

/** A socket, or a stand-in that has sent everything. */
export interface RawSocket {
  destroy(): unknown;
  readonly _handle?: { readonly writeQueueSize?: number } | null;
}

/**
 * Returns the bytes in the write queues of TLS and of the operating system's socket. `writableLength` does not always
 * include them: TLS accepts and encrypts whatever it is given, even when the peer does not read. Right after a write,
 * Node 26 has not passed it to TLS yet and still counts it in `writableLength`.
 */
export function unsentBytes({ _handle: handle }: RawSocket): number {
  return handle?.writeQueueSize ?? 0;
}

/** Reports whether the FIN of the peer has arrived. `readableEnded` turns true only after all data has been read. */
export function hasReceivedFin(socket: Duplex): boolean {
  return (socket as unknown as { readonly _readableState: { readonly ended: boolean } })._readableState.ended;
}

// ── Connections of a server

/**
 * Stops Node from serving new connections by itself. Returns a function that serves one as Node would have; calling it
 * again for an HTTP/1 socket without TLS starts a new parser on it.
 */
export function interceptConnections(server: NodeServer): (socket: Socket | Duplex) => void {
  const listeners = server.listeners('connection');
  server.removeAllListeners('connection');
  return (socket) => {
    for (const listener of listeners) listener.call(server, socket);
  };
}

/** Node's listener for the end of an HTTP/1 connection. */
const END_LISTENER = 'bound socketOnEnd';

/**
 * Lets `defer` decide when an HTTP/1 connection that the client has closed is closed on this side, as Node would at
 * once: it aborts the requests. Must be called whenever a parser has been started on the socket.
 */
export function deferEnd(socket: Duplex, defer: (close: () => void) => void): void {
  for (const close of socket.rawListeners('end')) {
    if (close.name !== END_LISTENER) continue;
    const listener = () => {
      keepHalfOpen(socket);
      defer(() => close.call(socket));
    };
    socket.off('end', close as () => void);
    // Node removes its own listener when the protocol changes, and finds it by this property.
    socket.on('end', Object.assign(listener, { listener: close }));
  }
}

/** Does the same for HTTP/2. */
export function deferSessionEnd(socket: Duplex, defer: (close: () => void) => void): void {
  socket.once('end', () => {
    keepHalfOpen(socket);
    defer(() => socket.end());
  });
}

/** Called in a listener for `end`: Node closes a socket that may not be half open right after it. */
function keepHalfOpen(socket: Duplex): void {
  socket.allowHalfOpen = true;
}

/**
 * Creates errors without stack traces until the end of this turn of the event loop: Node makes several for each
 * connection that breaks, and their traces take half of the time.
 */
export function omitStackTraces(): void {
  const { stackTraceLimit } = Error;
  if (stackTraceLimit === 0) return;
  Error.stackTraceLimit = 0;
  setImmediate(() => {
    Error.stackTraceLimit = stackTraceLimit;
  });
}

/** Starts a new HTTP/1 parser on a TLS connection that the server has already accepted. Not used from Node 26 on. */
export function restartHttp1(server: Http2SecureServer, socket: Duplex): void {
  server.emit('secureConnection', socket);
}

/**
 * Returns a lookup of the socket beneath each HTTP/2 session. `session.socket` is a proxy that rejects `destroy()`.
 * Node creates the session while it handles `secureConnection`, so the socket of the latest such event is the session's
 * own.
 */
export function trackSessionSockets(server: Http2SecureServer): (session: ServerHttp2Session) => TLSSocket {
  let latest: TLSSocket | undefined;
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    latest = socket;
  });
  return (session) => latest ?? (session.socket as TLSSocket);
}

/**
 * Removes the compatibility layer that a `request` listener adds to every HTTP/2 stream, which costs a third of the
 * throughput. `request` events then come from HTTP/1 only. Must be called after the `request` listener was added.
 */
export function removeHttp2Compatibility(server: Http2SecureServer): void {
  server.removeAllListeners('stream');
}

/** Settings of the HTTP/1 parser, with Node's own names. */
export interface Http1Settings {
  readonly maxHeaderSize: number;
  /** Timeouts, in milliseconds. */
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly connectionsCheckingInterval: number;
  readonly keepAliveTimeout: number;
  readonly requireHostHeader: boolean;
}

/** Sets them as properties: for HTTP/1 on a TLS server for HTTP/2, Node reads them but offers no options. */
export function configureHttp1(server: NodeServer, settings: Partial<Http1Settings>): void {
  Object.assign(server, settings);
}

// ── Upgrades

/**
 * The way to serve an unsupported upgrade as an ordinary request.
 *
 * - `replay` (before Node 26): Node always emits `upgrade` and gives up its parser. Everything after the headers comes
 *   as `head`, the body included, so the request can be put back into the socket and parsed again without those
 *   headers.
 * - `decline` (from Node 26 on): the body stays with the request, so there is nothing to put back, but Node can be told
 *   to ignore the upgrade. It then drops data that the client has sent after the request in the same segment, so the
 *   response must be the last one on its connection.
 */
export const UPGRADE_HANDLING: 'replay' | 'decline' =
  Number.parseInt(process.versions.node, 10) < 26 ? 'replay' : 'decline';

/** Makes Node treat upgrade requests as ordinary ones unless `accepts` returns true. */
export function declineUpgrades(server: NodeServer, accepts: (request: IncomingMessage) => boolean): void {
  Object.assign(server, { shouldUpgradeCallback: accepts });
}

/** Creates the response to a request that was emitted as `upgrade`, for which Node creates none. It owns the socket. */
export function responseToUpgrade(request: IncomingMessage, socket: Duplex): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Socket);
  return response;
}

/** Takes the socket from a response that has written nothing. */
export function releaseSocket(response: ServerResponse, socket: Duplex): void {
  response.detachSocket(socket as Socket);
}

// ── Pipelined requests of HTTP/1

/** Returns the next response on this connection: being written, or not yet begun. */
export function currentResponse(socket: Duplex): ServerResponse | undefined {
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}

/**
 * Makes `pause()` stop the parser of an HTTP/1 connection until `isPaused` returns false and `resume()` is called.
 *
 * Node's parser normally bypasses the stream and reads from the handle: `pause()` has no effect, and when Node itself
 * pauses a connection whose responses are not read, further input is a parser error. Adding a listener for `data` makes
 * the parser read from the stream permanently. Node also resumes the stream after every request.
 */
export function makePausable(socket: Duplex, isPaused: () => boolean): void {
  const ignore = () => undefined;
  socket.on('data', ignore);
  socket.off('data', ignore);
  socket.on('resume', () => {
    if (isPaused()) socket.pause();
  });
}

/** Reports whether Node has stopped reading because responses are not read. Node resumes it by itself. */
export function isPausedByNode(socket: Duplex): boolean {
  return (socket as { readonly _paused?: boolean })._paused === true;
}

/** Calls the listener when a response that is queued behind others gets the socket. */
export function whenCurrent(response: ServerResponse, listener: () => void): void {
  response.once('socket', listener);
}

/** Closes a response that never got the socket: Node before 24 closes only the one that has it. */
export function closeQueued(response: ServerResponse): void {
  if (response.closed) return;
  response.destroy();
  if (!response.closed) response.emit('close');
}

/** Stops feeding the parser, which has reported an error. Further input is discarded. */
export function discardInput(socket: Duplex): void {
  socket.removeAllListeners('data');
  socket.on('data', () => undefined);
}

/**
 * Returns the socket of a chunked response without pending data in Node: framed chunks may be written to it directly.
 * Undefined if they would overtake something, or if the response is not chunked.
 */
export function rawChunkSocket(response: ServerResponse): Socket | undefined {
  const { socket } = response;
  if (!socket || !response.chunkedEncoding || response.writableLength !== socket.writableLength) return undefined;
  return socket;
}

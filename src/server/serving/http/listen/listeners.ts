/** Listens on ports: turns sockets, TLS and HTTP into exchanges. */
import { constants } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { PacedTasks } from '../../../../base/event-loop/paced-tasks.ts';
import { TurnBudget } from '../../../../base/event-loop/turn-budget.ts';
import type { Tools } from '../../../../base/tools.ts';
import type { Exchange, Peer } from '../../exchange.ts';
import type { Blockage } from '../../metrics/event-loop.ts';
import { Deadlines } from '../deadlines.ts';
import type { Limits } from '../limits.ts';
import {
  configureHttp1,
  currentResponse,
  declineUpgrades,
  deferEnd,
  deferSessionEnd,
  interceptConnections,
  removeHttp2Compatibility,
  restartHttp1,
  trackSessionSockets,
  UPGRADE_HANDLING,
  unsentBytes,
} from '../node-internals.ts';
import { Http1Exchange, isStreaming } from '../protocol/http1.ts';
import { Http2Exchange, type Http2Options } from '../protocol/http2.ts';
import { isUpgrade, UpgradeExchange } from '../protocol/websocket.ts';
import { BacklogLimiter } from './backlog-limiter.ts';
import { closeOnDisconnect } from './close-on-disconnect.ts';
import { type ConnectionCounts, Connections } from './connections.ts';
import { closeWhenIdle } from './idle-session.ts';
import { answerMalformed } from './malformed-request.ts';
import { MultiplexedRequests } from './multiplexed-requests.ts';
import { PeerCache } from './peer-cache.ts';
import { PipelinedRequests, whenAllAnswered } from './pipelined-requests.ts';

export interface Tls {
  readonly key: string | Buffer;
  readonly cert: string | Buffer;
  /** The authority that signs client certificates. */
  readonly ca: string | Buffer;
  /** The authority that signs certificates of authenticating proxies; undefined: none is trusted. */
  readonly proxyCa?: string | undefined;
}

/** Creates a context that verifies certificates of both authorities; `certificateOf` tells them apart. */
function contextOf({ key, cert, ca, proxyCa }: Tls) {
  return { key, cert, ca: proxyCa === undefined ? ca : [ca, proxyCa] };
}

export interface ListenersOptions extends Pick<Tools, 'clock' | 'log'> {
  readonly tls: Tls;
  readonly limits: Limits;
  /** Delays a client that opens connections too fast; undefined when no delay is needed. */
  readonly pace: ((address: string) => Promise<void> | undefined) | undefined;
  /** Called whenever connections are opened, closed or refused. */
  readonly onCounts?: ((counts: ConnectionCounts) => void) | undefined;
  /** Called when a connection that carried requests has closed. */
  readonly onDisconnect?: ((peer: Peer) => void) | undefined;
  /** Called when the thread of the listeners was blocked, if they have their own. */
  readonly onBlocked?: ((blockage: Blockage) => void) | undefined;
  readonly serve: (exchange: Exchange) => void;
}

export interface Listeners {
  /** Listens with TLS. May be called for several addresses. */
  listen(port: number, host: string): Promise<AddressInfo>;
  /** Listens without TLS and without authentication: for loopback addresses only. */
  listenInsecure(port: number, host: string): Promise<AddressInfo>;
  /** Uses another certificate for new connections. */
  renew(tls: Partial<Tls>): void;
  /** Stops accepting connections, lets requests in flight finish for a while, then closes the rest. */
  close(): Promise<void>;
  /** Runs the task after pending replies were written and pending requests were read. */
  nextTurn(task: () => void): void;
  /** Metrics, line by line. */
  lines(): Iterable<string>;
}

/** Memory limit of a session, above which Node rejects streams; many watches would reach Node's default. */
const MAX_SESSION_MEMORY_MB = 1024;
const TCP_KEEP_ALIVE_MS = 60_000;
const SOCKET_OPTIONS = { keepAlive: true, keepAliveInitialDelay: TCP_KEEP_ALIVE_MS, noDelay: true };

const UNREAD_REPLIES = 'closing connections: their clients do not read their replies';
const UNFINISHED_BODIES = 'closing connections: their clients do not finish their request bodies';

export function openListeners(options: ListenersOptions): Listeners {
  return new NetListeners(options);
}

class NetListeners implements Listeners {
  readonly #options: ListenersOptions;
  #tls: Tls;
  readonly #http: Http2Options;
  readonly #servers: (Http2SecureServer | Server)[] = [];
  readonly #connections: Connections;
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #peers: PeerCache;
  readonly #disconnects: PacedTasks;
  readonly #pipelined = new PipelinedRequests();
  readonly #multiplexed: MultiplexedRequests;

  constructor(options: ListenersOptions) {
    this.#options = options;
    this.#tls = options.tls;
    const { limits, clock, log } = options;
    const outgoing = new BacklogLimiter({ maxBytes: limits.maxUnsentBytes, warning: UNREAD_REPLIES, clock, log });
    const incoming = new BacklogLimiter({ maxBytes: limits.maxUnreadBytes, warning: UNFINISHED_BODIES, clock, log });
    const bodies = new Deadlines(clock, limits.bodyTimeoutMs);
    this.#http = { limits, clock, bodies, outgoing, incoming };
    this.#connections = new Connections(options);
    this.#disconnects = new PacedTasks(new TurnBudget(clock));
    this.#peers = new PeerCache(options.onDisconnect);
    this.#multiplexed = new MultiplexedRequests(options.serve);
  }

  listen(port: number, host: string): Promise<AddressInfo> {
    const { limits } = this.#options;
    const server = createSecureServer({
      ...contextOf(this.#tls),
      allowHTTP1: true,
      ...TLS_OPTIONS,
      requestCert: true,
      rejectUnauthorized: false,
      handshakeTimeout: limits.headersTimeoutMs,
      maxSessionMemory: MAX_SESSION_MEMORY_MB,
      settings: { maxConcurrentStreams: limits.maxStreams, maxHeaderListSize: limits.maxHeaderBytes },
      ...SOCKET_OPTIONS,
    });
    const socketOf = trackSessionSockets(server);
    server.prependListener('secureConnection', (socket: TLSSocket) => this.#peers.addSecure(socket, socket, this.#tls));
    server.on('session', (session: ServerHttp2Session) => this.#onSession(session, socketOf(session)));
    this.#admitConnections(server);
    this.#onHttp1(server, { isUnsecured: false, restart: (socket) => restartHttp1(server, socket) });
    removeHttp2Compatibility(server);
    server.on('secureConnection', (socket: TLSSocket) => this.#paceEnd(socket));
    server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      const { session } = stream;
      if (!session) stream.destroy();
      else
        this.#multiplexed.add(session, new Http2Exchange(stream, headers, this.#peers.get(session, false), this.#http));
    });
    return this.#start(server, port, host);
  }

  listenInsecure(port: number, host: string): Promise<AddressInfo> {
    const server = createServer(SOCKET_OPTIONS);
    const restart = this.#admitConnections(server);
    this.#onHttp1(server, { isUnsecured: true, restart });
    return this.#start(server, port, host);
  }

  renew(tls: Partial<Tls>): void {
    this.#tls = { ...this.#tls, ...tls };
    for (const server of this.#servers) {
      if ('setSecureContext' in server) server.setSecureContext({ ...contextOf(this.#tls), ...TLS_OPTIONS });
    }
  }

  async close(): Promise<void> {
    const { clock, limits } = this.#options;
    const closed = this.#servers.map((server) => {
      // Busy connections are closed as soon as they become idle.
      configureHttp1(server, { keepAliveTimeout: 1 });
      return new Promise<void>((resolve) => server.close(() => resolve()));
    });
    for (const session of this.#sessions) session.close();
    const timer = clock.timer(limits.drainTimeoutMs, () => {
      this.#connections.destroyAll();
    });
    await Promise.all(closed);
    timer.cancel();
  }

  nextTurn(task: () => void): void {
    setImmediate(task);
  }

  lines(): Iterable<string> {
    return this.#connections.lines();
  }

  /** Applies the limits to new connections. Returns a function that serves an admitted one. */
  #admitConnections(server: Http2SecureServer | Server): (socket: Duplex) => void {
    const start = interceptConnections(server);
    const serve = (socket: Duplex) => {
      start(socket);
      this.#paceEnd(socket);
    };
    server.on('connection', (socket: Socket) => this.#connections.admit(socket, () => serve(socket)));
    return serve;
  }

  /** Thousands of clients may disconnect at once, and each disconnect takes several system calls. */
  #paceEnd(socket: Duplex): void {
    const isHttp2 = 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';
    (isHttp2 ? deferSessionEnd : deferEnd)(socket, (close) =>
      this.#disconnects.run(() => {
        if (socket.destroyed) return;
        const isWaiting = isHttp2 || currentResponse(socket) !== undefined;
        // A client that has gone before its response was complete needs no orderly end, which costs a system call.
        if (isWaiting && socket.writableLength + unsentBytes(socket) === 0) socket.destroy();
        else close();
      }),
    );
  }

  #onHttp1(server: Http2SecureServer | Server, { isUnsecured, restart }: Http1Origin): void {
    const { limits, clock, serve } = this.#options;
    configureHttp1(server, {
      maxHeaderSize: limits.maxHeaderBytes,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.headersTimeoutMs + limits.bodyTimeoutMs,
      connectionsCheckingInterval: limits.timeoutCheckIntervalMs,
      keepAliveTimeout: limits.idleTimeoutMs,
      requireHostHeader: true,
    });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const { socket } = request;
      if (UPGRADE_HANDLING === 'decline' && request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
      const exchange = new Http1Exchange(request, response, this.#peers.get(socket, isUnsecured), this.#http);
      // The response has the socket unless earlier ones on the same connection are still open.
      if (response.socket) serve(exchange);
      else this.#pipelined.add(socket, { response, serve: () => serve(exchange) });
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isStreaming(socket)) return;
      answerMalformed(error, socket, clock);
    });
    if (UPGRADE_HANDLING === 'decline') declineUpgrades(server, (request) => isUpgrade(request, request.socket));
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (isUpgrade(request, socket)) {
        const upgrade = { request, socket, head };
        serve(new UpgradeExchange(upgrade, this.#peers.get(request.socket, isUnsecured), this.#http));
      } else replayWithoutUpgrade(request, socket, { head, restart });
    });
  }

  #onSession(session: ServerHttp2Session, socket: TLSSocket): void {
    const { outgoing, incoming } = this.#http;
    for (const limiter of [outgoing, incoming]) limiter.setSocket(session, socket);
    this.#peers.addSecure(session, socket, this.#tls);
    this.#sessions.add(session);
    session.once('close', () => this.#sessions.delete(session));
    closeWhenIdle(session, socket, this.#options.limits.idleTimeoutMs);
  }

  #start(server: Http2SecureServer | Server, port: number, host: string): Promise<AddressInfo> {
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => {
        server.off('error', reject);
        server.on('error', (error) => this.#options.log.error('the listener failed', { error }));
        this.#servers.push(server);
        resolve(server.address() as AddressInfo);
      });
    });
  }
}

interface Http1Origin {
  readonly isUnsecured: boolean;
  /** Starts a new parser on a connection. */
  readonly restart: (socket: Duplex) => void;
}

/**
 * Serves an upgrade to an unsupported protocol as an ordinary request, after those before it: puts the request back
 * into its socket, without the headers for the upgrade, and parses it again.
 */
function replayWithoutUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  { head, restart }: { readonly head: Buffer; readonly restart: (socket: Duplex) => void },
): void {
  const onError = () => socket.destroy();
  socket.on('error', onError);
  const release = closeOnDisconnect(socket);
  whenAllAnswered(socket, () => {
    release();
    socket.off('error', onError);
    socket.unshift(stripUpgrade(request, head));
    restart(socket);
  });
}

/** Headers that request another protocol, and the tokens in `Connection` that name them. */
const UPGRADE_HEADERS = new Set(['upgrade', 'http2-settings']);

/** Returns the request's bytes as received, followed by `rest`, without the headers that request another protocol. */
function stripUpgrade(request: IncomingMessage, rest: Buffer): Buffer {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    const value = rawHeaders[i + 1]!;
    const key = name.toLowerCase();
    if (key === 'connection') lines.push(`${name}: ${withoutUpgradeTokens(value)}`);
    else if (!UPGRADE_HEADERS.has(key)) lines.push(`${name}: ${value}`);
  }
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), rest]);
}

function withoutUpgradeTokens(connection: string): string {
  return connection
    .split(',')
    .map((token) => token.trim())
    .filter((token) => !UPGRADE_HEADERS.has(token.toLowerCase()))
    .join(', ');
}

/**
 * TLS settings of every listener: forward-secret, authenticated cipher suites only, in the order of Go's TLS servers
 * (cheapest first). Renegotiation is off because a client is authenticated once per connection.
 */
const TLS_OPTIONS = {
  minVersion: 'TLSv1.2',
  ciphers: [
    ...['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'],
    ...['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
    ...['ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-RSA-CHACHA20-POLY1305'],
  ].join(':'),
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const;

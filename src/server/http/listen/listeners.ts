/** Ports that are listened on: sockets, TLS and HTTP in, exchanges out. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import { certificateOf } from '../../authn/certificate.ts';
import type { Limits } from '../limits.ts';
import type { Exchange, Peer } from '../protocol/exchange.ts';
import { Http1Exchange } from '../protocol/http1.ts';
import { Http2Exchange, type Http2Options } from '../protocol/http2.ts';
import { isWebSocket, UpgradeExchange } from '../protocol/websocket.ts';
import { Held } from './backlog-limiter.ts';
import { closeWhenLeft } from './close-on-disconnect.ts';
import { type ConnectionCounts, Connections } from './connections.ts';
import { endWhenIdle } from './idle-session.ts';
import { answerBroken } from './malformed-request.ts';
import { inTurn, whenAllAnswered } from './pipelined-requests.ts';
import { withoutUpgrade } from './strip-upgrade.ts';
import { SECURE } from './tls-options.ts';

export interface Tls {
  readonly key: string | Buffer;
  readonly cert: string | Buffer;
  /** Who signs client certificates. */
  readonly ca: string | Buffer;
}

export interface ListenersOptions {
  readonly tls: Tls;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes one wait who opens connections faster than others; undefined where he need not. */
  readonly pace: ((address: string) => Promise<void> | undefined) | undefined;
  /** Told whenever connections come, go or are refused. */
  readonly counted?: ((counts: ConnectionCounts) => void) | undefined;
  /** Told when a connection that had requests has ended. */
  readonly left?: ((peer: Peer) => void) | undefined;
  readonly serve: (exchange: Exchange) => void;
}

export interface Listeners {
  /** Listens with TLS. Several addresses are several calls. */
  listen(port: number, host: string): Promise<AddressInfo>;
  /** Listens without TLS and without authentication: for loopback addresses only. */
  listenInsecure(port: number, host: string): Promise<AddressInfo>;
  /** Serves new connections with another certificate; those that are open stay. */
  renew(tls: Pick<Tls, 'key' | 'cert'>): void;
  /** Stops accepting, lets requests in flight finish for a while, then closes what is left. */
  close(): Promise<void>;
  /** Runs the task after what was answered has left, and what came meanwhile has been read. */
  nextTurn(task: () => void): void;
  /** Metrics, line by line. */
  lines(): Iterable<string>;
}

/** Megabytes. Node refuses streams while this much waits; large replies on many streams are what watches are made of. */
const SESSION_MEMORY = 1024;

const UNTAKEN = 'connections are closed: their clients do not take their replies';
const UNFINISHED = 'connections are closed: their clients do not finish what they send';

export function openListeners(options: ListenersOptions): Listeners {
  return new NetListeners(options);
}

class NetListeners implements Listeners {
  readonly #options: ListenersOptions;
  #tls: Tls;
  readonly #http: Http2Options;
  readonly #servers: (Http2SecureServer | Server)[] = [];
  readonly #connections: Connections;
  /** The socket that is being given to HTTP/1 or to a session of HTTP/2. */
  #latest: TLSSocket | undefined;
  readonly #sessions = new Set<ServerHttp2Session>();
  /** By socket for HTTP/1, by session for HTTP/2: looked at once a connection, never per request. */
  readonly #peers = new WeakMap<object, Peer>();

  constructor(options: ListenersOptions) {
    this.#options = options;
    this.#tls = options.tls;
    const { limits, clock, log } = options;
    const outgoing = new Held({ limit: limits.unsent, complaint: UNTAKEN, clock, log });
    const incoming = new Held({ limit: limits.unread, complaint: UNFINISHED, clock, log });
    this.#http = { limits, clock, outgoing, incoming };
    this.#connections = new Connections(options);
  }

  listen(port: number, host: string): Promise<AddressInfo> {
    const { limits, serve } = this.#options;
    const server = createSecureServer({
      ...this.#tls,
      allowHTTP1: true,
      ...SECURE,
      requestCert: true,
      rejectUnauthorized: false,
      handshakeTimeout: limits.headersTimeout,
      maxSessionMemory: SESSION_MEMORY,
      settings: { maxConcurrentStreams: limits.streams, maxHeaderListSize: limits.headers },
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
      noDelay: true,
    });
    server.prependListener('secureConnection', (socket: TLSSocket) => {
      this.#latest = socket;
      if (!this.#peers.has(socket)) this.#remember(socket, socket);
    });
    server.on('session', (session: ServerHttp2Session) => this.#onSession(session));
    this.#onRequests(server, { isUnsecured: false, again: (socket) => server.emit('secureConnection', socket) });
    // Taking requests has put Node's compatibility layer onto the streams; they are served without it.
    server.removeAllListeners('stream');
    server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      const { session } = stream;
      if (session) serve(new Http2Exchange(stream, headers, this.#peer(session, false), this.#http));
      else stream.destroy();
    });
    return this.#start(server, port, host);
  }

  listenInsecure(port: number, host: string): Promise<AddressInfo> {
    const server = createServer({ keepAlive: true, keepAliveInitialDelay: 60_000, noDelay: true });
    const serving = server.listeners('connection');
    const again = (socket: Duplex) => {
      for (const each of serving) each.call(server, socket);
    };
    this.#onRequests(server, { isUnsecured: true, again });
    return this.#start(server, port, host);
  }

  renew(tls: Pick<Tls, 'key' | 'cert'>): void {
    this.#tls = { ...this.#tls, ...tls };
    for (const server of this.#servers) {
      if ('setSecureContext' in server) server.setSecureContext({ ...this.#tls, ...SECURE });
    }
  }

  async close(): Promise<void> {
    const { clock, limits } = this.#options;
    const closed = this.#servers.map((server) => {
      // Connections that are busy now are closed when they have nothing more to do.
      Object.assign(server, { keepAliveTimeout: 1 });
      return new Promise<void>((resolve) => server.close(() => resolve()));
    });
    for (const session of this.#sessions) session.close();
    const timer = clock.timer(limits.drain, () => {
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

  /** `again` lets Node read a connection of HTTP/1 from the beginning. */
  #onRequests(
    server: Http2SecureServer | Server,
    { isUnsecured, again }: { readonly isUnsecured: boolean; readonly again: (socket: Duplex) => void },
  ): void {
    const { limits, clock, serve } = this.#options;
    Object.assign(server, {
      maxHeaderSize: limits.headers,
      headersTimeout: limits.headersTimeout,
      requestTimeout: limits.headersTimeout + limits.bodyTimeout,
      connectionsCheckingInterval: limits.checkInterval,
      keepAliveTimeout: limits.idle,
      requireHostHeader: true,
    });
    const serving = server.listeners('connection');
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      this.#connections.admit(socket, () => {
        for (const each of serving) each.call(server, socket);
      });
    });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const { socket } = request;
      const exchange = new Http1Exchange(request, response, this.#peer(socket, isUnsecured), this.#http);
      // Nearly always it is alone.
      if (response.socket) serve(exchange);
      else inTurn(response, socket, () => serve(exchange));
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
      answerBroken(error, socket, clock);
    });
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const upgrade = { request, socket, head };
      if (isWebSocket(upgrade)) {
        serve(new UpgradeExchange(upgrade, this.#peer(request.socket, isUnsecured), this.#http));
        return;
      }
      const onError = () => socket.destroy();
      socket.on('error', onError);
      const free = closeWhenLeft(socket);
      whenAllAnswered(socket, () => {
        free();
        socket.off('error', onError);
        socket.unshift(withoutUpgrade(request, head));
        again(socket);
      });
    });
  }

  #onSession(session: ServerHttp2Session): void {
    for (const held of [this.#http.outgoing, this.#http.incoming])
      if (this.#latest) held.carries(this.#latest, session);
    this.#remember(session, session.socket as TLSSocket);
    this.#sessions.add(session);
    session.once('close', () => this.#sessions.delete(session));
    endWhenIdle(session, this.#latest ?? session.socket, this.#options.limits.idle);
  }

  #remember(key: Socket | Http2Session, socket: TLSSocket): void {
    const address = socket.remoteAddress ?? '';
    this.#keep(key, { address, certificate: certificateOf(socket), isUnsecured: false });
  }

  #peer(key: Socket | Http2Session, isUnsecured: boolean): Peer {
    const known = this.#peers.get(key);
    if (known) return known;
    const { remoteAddress } = 'socket' in key ? key.socket : key;
    return this.#keep(key, { address: remoteAddress ?? '', certificate: undefined, isUnsecured });
  }

  #keep(key: Socket | Http2Session, peer: Peer): Peer {
    const { left } = this.#options;
    this.#peers.set(key, peer);
    if (left) key.once('close', () => left(peer));
    return peer;
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

/**
 * The server's face to the network: HTTP/1.1, HTTP/2 and WebSockets in, calls out, replies back. Everything about sockets,
 * headers, media types and limits lives here; what a verb does, who may do it and what an object means do not.
 */
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
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Handle } from '../api.ts';
import type { Audit } from '../audit/audit.ts';
import { type Authenticate, UNSECURED } from '../authn/authenticator.ts';
import { type ClientCertificate, certificateOf } from '../authn/certificate.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import { Discovery, type VersionInfo } from '../discovery/discovery.ts';
import type { Admitting } from '../fairness/admitting.ts';
import { Metrics } from '../metrics/metrics.ts';
import type { Registry } from '../registry.ts';
import { answerBroken } from './broken-request.ts';
import { Connections } from './connections.ts';
import type { JsonDocument } from './documents.ts';
import type { Exchange } from './exchange.ts';
import type { HealthCheck } from './health.ts';
import { Http1Exchange } from './http1.ts';
import { Http2Exchange, type Http2Options } from './http2.ts';
import { defaultLimits, type Limits } from './limits.ts';
import { Pipeline } from './pipeline.ts';
import { UpgradeExchange } from './websocket.ts';

export interface HttpServerOptions {
  readonly handle: Handle;
  readonly registry: Registry;
  readonly tls: {
    readonly key: string | Buffer;
    readonly cert: string | Buffer;
    /** Who signs client certificates. */
    readonly ca: string | Buffer;
  };
  readonly authenticate: Authenticate;
  readonly authorizer: Authorizer;
  readonly log: Logger;
  readonly clock: Clock;
  readonly version: VersionInfo;
  readonly isReady: () => boolean;
  /** What can be wrong beside that, such as the store. */
  readonly checks?: readonly HealthCheck[];
  /** What else is to be read, besides objects and what is said of them. */
  readonly documents?: readonly JsonDocument[];
  /** Where requests are counted; a new place, where absent. */
  readonly metrics?: Metrics;
  readonly limits?: Partial<Limits>;
  /** Where requests are noted. */
  readonly audit?: Audit | undefined;
  /** Who decides when a request is worked on; where absent, it is at once. */
  readonly admitting?: Admitting | undefined;
  /** `host:port` that discovery tells clients; the first address listened on, where absent. */
  readonly advertised?: string;
}

export interface HttpServer {
  /** Listens with TLS. Several addresses are several calls. */
  listen(port: number, host: string): Promise<AddressInfo>;
  /** Listens without TLS and without authentication: for loopback addresses only. */
  listenInsecure(port: number, host: string): Promise<AddressInfo>;
  /** Serves new connections with another certificate; those that are open stay. */
  renew(tls: Pick<HttpServerOptions['tls'], 'key' | 'cert'>): void;
  /** Does ahead what the first client would wait for; for a moment when nobody waits. */
  prepare(): void;
  /** Stops accepting, ends watches, lets requests in flight finish for a while, then closes what is left. */
  close(): Promise<void>;
}

/** Megabytes. Node refuses streams while this much waits; large replies on many streams are what watches are made of. */
const SESSION_MEMORY = 1024;

/** What a TLS handshake costs, in requests. */
const HANDSHAKE = 10;

const MIN_VERSION = 'TLSv1.2';

export function createHttpServer(options: HttpServerOptions): HttpServer {
  return new Listeners(options);
}

class Listeners implements HttpServer {
  readonly #options: HttpServerOptions;
  #tls: HttpServerOptions['tls'];
  readonly #limits: Limits;
  readonly #http2: Http2Options;
  readonly #pipeline: Pipeline;
  readonly #servers: (Http2SecureServer | Server)[] = [];
  readonly #connections: Connections;
  readonly #sessions = new Set<ServerHttp2Session>();
  /** By socket for HTTP/1, by session for HTTP/2: looked at once a connection, never per request. */
  readonly #certificates = new WeakMap<object, ClientCertificate>();
  #address = '';

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#tls = options.tls;
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#http2 = { limits: this.#limits, clock: options.clock };
    const { handle, registry, authorizer, isReady, log, version, clock, audit, admitting } = options;
    const pace = admitting && ((address: string) => admitting.stranger(address, HANDSHAKE));
    this.#connections = new Connections({ limits: this.#limits, clock, log, pace });
    const metrics = options.metrics ?? new Metrics(clock);
    metrics.add(this.#connections, audit, admitting);
    const serverAddress = () => options.advertised ?? this.#address;
    const discovery = new Discovery({ registry, version, serverAddress });
    this.#pipeline = new Pipeline({
      ...{ handle, registry, authorizer, discovery, isReady, limits: this.#limits, log, clock, version, metrics },
      ...{ audit, admitting },
      checks: options.checks ?? [],
      documents: options.documents ?? [],
    });
  }

  listen(port: number, host: string): Promise<AddressInfo> {
    const { authenticate } = this.#options;
    const server = createSecureServer({
      ...this.#tls,
      allowHTTP1: true,
      minVersion: MIN_VERSION,
      requestCert: true,
      rejectUnauthorized: false,
      handshakeTimeout: this.#limits.headersTimeout,
      maxSessionMemory: SESSION_MEMORY,
      settings: { maxConcurrentStreams: this.#limits.streams, maxHeaderListSize: this.#limits.headers },
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
      noDelay: true,
    });
    server.prependListener('secureConnection', (socket: TLSSocket) => this.#remember(socket, socket));
    server.on('session', (session: ServerHttp2Session) => this.#onSession(session));
    this.#onRequests(server, authenticate);
    // Taking requests has put Node's compatibility layer onto the streams; they are served without it.
    server.removeAllListeners('stream');
    server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      const certificate = stream.session && this.#certificates.get(stream.session);
      this.#serve(new Http2Exchange(stream, headers, certificate, this.#http2), authenticate);
    });
    return this.#start(server, port, host);
  }

  listenInsecure(port: number, host: string): Promise<AddressInfo> {
    const server = createServer({ keepAlive: true, keepAliveInitialDelay: 60_000, noDelay: true });
    this.#onRequests(server, () => UNSECURED);
    return this.#start(server, port, host);
  }

  renew(tls: Pick<HttpServerOptions['tls'], 'key' | 'cert'>): void {
    this.#tls = { ...this.#tls, ...tls };
    for (const server of this.#servers) {
      if ('setSecureContext' in server) server.setSecureContext({ ...this.#tls, minVersion: MIN_VERSION });
    }
  }

  prepare(): void {
    this.#pipeline.prepare();
  }

  async close(): Promise<void> {
    const closed = this.#servers.map((server) => {
      // Connections that are busy now are closed when they have nothing more to do.
      Object.assign(server, { keepAliveTimeout: 1 });
      return new Promise<void>((resolve) => server.close(() => resolve()));
    });
    this.#pipeline.drain();
    for (const session of this.#sessions) session.close();
    const timer = this.#options.clock.timer(this.#limits.drain, () => {
      this.#connections.destroyAll();
    });
    await Promise.all(closed);
    timer.cancel();
  }

  #onRequests(server: Http2SecureServer | Server, authenticate: Authenticate): void {
    const limits = this.#limits;
    Object.assign(server, {
      maxHeaderSize: limits.headers,
      headersTimeout: limits.headersTimeout,
      requestTimeout: limits.headersTimeout + limits.bodyTimeout,
      connectionsCheckingInterval: limits.checkInterval,
      keepAliveTimeout: limits.idle,
    });
    const serving = server.listeners('connection');
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      this.#connections.admit(socket, () => {
        for (const serve of serving) serve.call(server, socket);
      });
    });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const certificate = this.#certificates.get(request.socket);
      this.#serve(new Http1Exchange(request, response, certificate, limits.body), authenticate);
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
      answerBroken(error, socket, this.#options.clock);
    });
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const certificate = this.#certificates.get(socket);
      this.#serve(new UpgradeExchange({ request, socket, head }, certificate, limits.body), authenticate);
    });
  }

  #onSession(session: ServerHttp2Session): void {
    this.#remember(session, session.socket as TLSSocket);
    this.#sessions.add(session);
    session.once('close', () => this.#sessions.delete(session));
    let open = 0;
    session.on('stream', (stream) => {
      open++;
      stream.once('close', () => open--);
    });
    session.setTimeout(this.#limits.idle, () => {
      if (open === 0) session.close();
    });
  }

  #remember(key: object, socket: TLSSocket): void {
    const certificate = certificateOf(socket);
    if (certificate) this.#certificates.set(key, certificate);
  }

  #serve(exchange: Exchange, authenticate: Authenticate): void {
    this.#pipeline.serve(exchange, authenticate).catch((error: unknown) => {
      this.#options.log.error('a request could not be answered', { error });
    });
  }

  #start(server: Http2SecureServer | Server, port: number, host: string): Promise<AddressInfo> {
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => {
        server.off('error', reject);
        server.on('error', (error) => this.#options.log.error('the listener failed', { error }));
        this.#servers.push(server);
        const address = server.address() as AddressInfo;
        this.#address ||=
          address.family === 'IPv6' ? `[${address.address}]:${address.port}` : `${address.address}:${address.port}`;
        resolve(address);
      });
    });
  }
}

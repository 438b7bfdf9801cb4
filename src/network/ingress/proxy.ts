/** The HTTP and HTTPS servers in front of pods: HTTP/1.1, and HTTP/2 over TLS. */
import { createServer, type Server } from 'node:http';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { Socket } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { DialGuard } from '../../base/dial/dial-guard.ts';
import type { Logger } from '../../base/log.ts';
import type { Clock } from '../../base/time/clock.ts';
import { EMPTY_CONFIG, type IngressConfig } from './config.ts';
import { Forwarder } from './forward.ts';
import { hostCandidates } from './match.ts';

export interface IngressProxyOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Checks where backends lead to. */
  readonly guard: DialGuard;
}

/**
 * What clients may take: they share the process with the API server. Bodies have no limit of time, because they are streamed and
 * keep nothing in memory; headers have.
 */
const LIMITS = { headersTimeout: 20_000, requestTimeout: 0, maxHeaderSize: 16_384 } as const;
/** Connections of clients to one port. */
const MAX_CONNECTIONS = 4_096;
/** Of one HTTP/2 connection, which sends as many at a time and no more. */
const MAX_CONCURRENT_STREAMS = 128;
/** Headers, streams and unsent data of one HTTP/2 connection, in megabytes. */
const MAX_SESSION_MEMORY_MB = 4;

export class IngressProxy {
  readonly #options: IngressProxyOptions;
  readonly #forwarder: Forwarder;
  readonly #servers: (Server | Http2SecureServer)[] = [];
  readonly #sockets = new Set<Socket>();
  #contexts: ReadonlyMap<string, SecureContext> = new Map();
  #certificates = EMPTY_CONFIG.certificates;

  constructor(options: IngressProxyOptions) {
    this.#options = options;
    this.#forwarder = new Forwarder(options.clock, options.guard);
  }

  /** Uses other rules from now on. Requests in progress go on. */
  use(config: IngressConfig): void {
    this.#forwarder.use(config);
    if (config.certificates === this.#certificates) return;
    this.#certificates = config.certificates;
    const contexts = new Map<string, SecureContext>();
    const contextOf = createdOnce();
    for (const { hosts, cert, key } of config.certificates) {
      try {
        const context = contextOf(cert, key);
        for (const host of hosts.length > 0 ? hosts : ['']) if (!contexts.has(host)) contexts.set(host, context);
      } catch (error) {
        this.#options.log.warn('a certificate of an Ingress cannot be used', { hosts, error: String(error) });
      }
    }
    this.#contexts = contexts;
  }

  /** Rejects when the port cannot be used. Resolves with the port. */
  listen(protocol: 'http' | 'https', address: string, port: number): Promise<number> {
    const server = protocol === 'http' ? createServer(LIMITS) : this.#tlsServer();
    server.maxConnections = MAX_CONNECTIONS;
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    this.#forwarder.serve(server);
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host: address, port, exclusive: true }, () => {
        server.off('error', reject);
        this.#servers.push(server);
        const bound = server.address();
        resolve(typeof bound === 'object' && bound ? bound.port : port);
      });
    });
  }

  async close(): Promise<void> {
    const closed = this.#servers
      .splice(0)
      .map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(closed);
    this.#forwarder.close();
  }

  /** Without a certificate for the name, the handshake fails. */
  #tlsServer(): Http2SecureServer {
    const server = createSecureServer({
      ...{ ...LIMITS, allowHTTP1: true, maxSessionMemory: MAX_SESSION_MEMORY_MB },
      settings: { maxConcurrentStreams: MAX_CONCURRENT_STREAMS, maxHeaderListSize: LIMITS.maxHeaderSize },
      SNICallback: (name, done) => {
        const found = hostCandidates(name).find((host) => this.#contexts.has(host));
        const context = found === undefined ? undefined : this.#contexts.get(found);
        if (context) done(null, context);
        else done(new Error('there is no certificate for this name'));
      },
    });
    server.on('sessionError', () => undefined);
    return server;
  }
}

/** Many Ingresses may use one certificate. */
function createdOnce(): (cert: string, key: string) => SecureContext {
  const known = new Map<string, Map<string, SecureContext>>();
  return (cert, key) => {
    const byKey = known.get(cert) ?? new Map<string, SecureContext>();
    const context = byKey.get(key) ?? createSecureContext({ cert, key });
    known.set(cert, byKey.set(key, context));
    return context;
  };
}

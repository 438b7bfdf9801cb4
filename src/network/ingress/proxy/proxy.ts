/** The HTTP and HTTPS servers in front of pods: HTTP/1.1, and HTTP/2 over TLS. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createSecureServer, type Http2SecureServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { DialGuard } from '../../../base/sockets/dial/dial-guard.ts';
import { type Listening, type ListenOn, stopAccepting } from '../../../base/sockets/listening.ts';
import type { Tools } from '../../../base/tools.ts';
import { EMPTY_CONFIG, type IngressConfig } from '../config.ts';
import { Forwarder } from './forward.ts';
import { hostCandidates } from './match.ts';

export interface IngressProxyOptions extends Pick<Tools, 'clock' | 'log'> {
  /** Checks where backends lead to. */
  readonly guard: DialGuard;
}

/**
 * Limits for clients, which share the process with cluster DNS. Bodies have no time limit, because they are streamed
 * and keep nothing in memory; headers have.
 */
const LIMITS = { headersTimeout: 20_000, requestTimeout: 0, maxHeaderSize: 16_384 } as const;
/** Connections of clients to one port. */
const MAX_CONNECTIONS = 4_096;
/** Limit for one HTTP/2 connection, which sends as many at a time and no more. */
const MAX_CONCURRENT_STREAMS = 128;
/** Headers, streams and unsent data of one HTTP/2 connection, in megabytes. */
const MAX_SESSION_MEMORY_MB = 4;

export class IngressProxy {
  readonly #forwarder: Forwarder;
  readonly #listening = new Set<Listening>();
  #contexts: ReadonlyMap<string, SecureContext> = new Map();
  #certificates = EMPTY_CONFIG.certificates;

  constructor(private readonly options: IngressProxyOptions) {
    this.#forwarder = new Forwarder(options.clock, options.guard);
  }

  /** Checks by another guard where backends lead to. */
  guardBy(guard: DialGuard): void {
    this.#forwarder.guardBy(guard);
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
        this.options.log.warn('a certificate of an Ingress cannot be used', { hosts, error: String(error) });
      }
    }
    this.#contexts = contexts;
  }

  /** Rejects when the port cannot be used. */
  async listen(protocol: 'http' | 'https', on: ListenOn): Promise<Listening> {
    const server = protocol === 'http' ? createServer(LIMITS) : this.#tlsServer();
    server.maxConnections = MAX_CONNECTIONS;
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    const sessions = new Set<ServerHttp2Session>();
    server.on('session', (session: ServerHttp2Session) => {
      sessions.add(session);
      session.on('close', () => sessions.delete(session));
    });
    let isReleased = false;
    this.#forwarder.serve(server, { isLast: () => isReleased });
    if ('handle' in on) server.listen(on.handle);
    else server.listen({ host: on.address, port: on.port, exclusive: true });
    await once(server, 'listening');
    const listening: Listening = {
      port: (server.address() as AddressInfo).port,
      handle: server as Server,
      close: async () => {
        this.#listening.delete(listening);
        const closed = isReleased ? undefined : new Promise<void>((resolve) => server.close(() => resolve()));
        for (const socket of sockets) socket.destroy();
        await closed;
      },
      async release() {
        isReleased = true;
        // They finish the requests that they have.
        for (const session of sessions) session.close();
        await stopAccepting(server as Server);
      },
    };
    this.#listening.add(listening);
    return listening;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#listening].map((each) => each.close()));
    this.#forwarder.close();
  }

  /** Creates the TLS server. Without a certificate for the name, the handshake fails. */
  #tlsServer(): Http2SecureServer {
    const server = createSecureServer({
      ...LIMITS,
      allowHTTP1: true,
      maxSessionMemory: MAX_SESSION_MEMORY_MB,
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

/** Returns a cache of contexts: many Ingresses may use one certificate. */
function createdOnce(): (cert: string, key: string) => SecureContext {
  const known = new Map<string, Map<string, SecureContext>>();
  return (cert, key) => {
    const byKey = known.get(cert) ?? new Map<string, SecureContext>();
    const context = byKey.get(key) ?? createSecureContext({ cert, key });
    known.set(cert, byKey.set(key, context));
    return context;
  };
}

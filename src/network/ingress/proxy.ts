/** The HTTP and HTTPS server that forwards requests to pods. Bodies are streamed in both directions. */
import {
  Agent,
  type ClientRequest,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { type BackendAddress, EMPTY_CONFIG, type IngressConfig } from './config.ts';
import { hostCandidates, matchBackend } from './match.ts';

export interface IngressProxyOptions {
  readonly clock: Clock;
  readonly log: Logger;
}

/** Headers that concern one connection and are not forwarded (RFC 9110, section 7.6.1). */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['proxy-authenticate', 'proxy-authorization', 'expect'],
]);
const CONNECT_TIMEOUT_MS = 5_000;
const MAX_IDLE_CONNECTIONS_PER_BACKEND = 32;

export class IngressProxy {
  readonly #options: IngressProxyOptions;
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: MAX_IDLE_CONNECTIONS_PER_BACKEND });
  readonly #servers: Server[] = [];
  readonly #upgraded = new Set<Duplex>();
  #config = EMPTY_CONFIG;
  #contexts: ReadonlyMap<string, SecureContext> = new Map();
  #turn = 0;

  constructor(options: IngressProxyOptions) {
    this.#options = options;
  }

  /** Uses other rules from now on. Requests in progress go on. */
  use(config: IngressConfig): void {
    this.#config = config;
    const contexts = new Map<string, SecureContext>();
    for (const { hosts, cert, key } of config.certificates) {
      try {
        const context = createSecureContext({ cert, key });
        for (const host of hosts.length > 0 ? hosts : ['']) if (!contexts.has(host)) contexts.set(host, context);
      } catch (error) {
        this.#options.log.warn('a certificate of an Ingress cannot be used', { hosts, error: String(error) });
      }
    }
    this.#contexts = contexts;
  }

  /** Rejects when the port cannot be used. Resolves with the port. */
  listen(protocol: 'http' | 'https', address: string, port: number): Promise<number> {
    const server = protocol === 'http' ? createServer() : this.#tlsServer();
    server.on('request', (incoming, outgoing) => this.#forward(incoming, outgoing));
    server.on('upgrade', (incoming, socket, head) => this.#upgrade(incoming, socket, head));
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
    for (const socket of this.#upgraded) socket.destroy();
    await Promise.all(
      this.#servers.splice(0).map((server) => {
        const closed = new Promise<void>((resolve) => server.close(() => resolve()));
        server.closeAllConnections();
        return closed;
      }),
    );
    this.#agent.destroy();
  }

  /** Without a certificate for the name, the handshake fails. */
  #tlsServer(): Server {
    return createTlsServer({
      SNICallback: (name, done) => {
        const found = hostCandidates(name).find((host) => this.#contexts.has(host));
        const context = found === undefined ? undefined : this.#contexts.get(found);
        if (context) done(null, context);
        else done(new Error('there is no certificate for this name'));
      },
    });
  }

  #forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const target = this.#targetOf(incoming);
    if (typeof target === 'number') {
      fail(outgoing, target);
      return;
    }
    const call = this.#call(incoming, target, forwardedHeaders(incoming));
    call.on('response', (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.statusMessage, withoutHopByHop(response.rawHeaders));
      response.pipe(outgoing);
      response.on('error', () => outgoing.destroy());
    });
    call.on('error', () => (outgoing.headersSent ? outgoing.destroy() : fail(outgoing, 502)));
    // The client is gone: nobody waits for the response.
    outgoing.on('close', () => call.destroy());
    incoming.on('error', () => call.destroy());
    incoming.pipe(call);
  }

  #upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const target = this.#targetOf(incoming);
    if (typeof target === 'number') {
      socket.end(`HTTP/1.1 ${target} ${REASONS[target]}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
      return;
    }
    const { upgrade } = incoming.headers;
    const call = this.#call(incoming, target, { ...forwardedHeaders(incoming), connection: 'Upgrade', upgrade });
    const relay = (response: IncomingMessage, other?: Duplex, first?: Buffer) => {
      const lines = pairs(response.rawHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`HTTP/1.1 ${response.statusCode} ${response.statusMessage}\r\n${lines.join('')}\r\n`);
      if (!other) {
        response.pipe(socket);
        return;
      }
      for (const each of [socket, other]) {
        this.#upgraded.add(each);
        each.on('close', () => this.#upgraded.delete(each));
      }
      if (first?.length) socket.write(first);
      if (head.length) other.write(head);
      socket.pipe(other).pipe(socket);
      other.on('error', () => socket.destroy());
      other.on('close', () => socket.destroy());
      socket.on('close', () => other.destroy());
    };
    call.on('upgrade', relay);
    call.on('response', (response) => relay(response));
    call.on('error', () => socket.destroy());
    call.end();
  }

  /** The backend's next address, or the status of the response when there is none. */
  #targetOf({ url = '/', headers: { host = '' } }: IncomingMessage): BackendAddress | 404 | 503 {
    const [path = '/'] = url.split('?', 1);
    const key = matchBackend(this.#config, host, path);
    if (key === undefined) return 404;
    const addresses = this.#config.backends.get(key) ?? [];
    return addresses.length === 0 ? 503 : addresses[this.#turn++ % addresses.length]!;
  }

  #call(
    { method, url }: IncomingMessage,
    { address, port }: BackendAddress,
    headers: IncomingHttpHeaders,
  ): ClientRequest {
    const call = request({ host: address, port, method, path: url, headers, agent: this.#agent, setHost: false });
    const timer = this.#options.clock.timer(CONNECT_TIMEOUT_MS, () => call.destroy(new Error('no connection in time')));
    call.on('socket', (socket) => {
      if (!socket.connecting) timer.cancel();
      else socket.once('connect', () => timer.cancel());
    });
    call.on('close', () => timer.cancel());
    return call;
  }
}

const REASONS: Readonly<Record<number, string>> = {
  404: 'Not Found',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
};
const EXPLANATIONS: Readonly<Record<number, string>> = {
  404: 'no rule of an Ingress matches this host and path',
  502: 'the backend of this path did not respond',
  503: 'the backend of this path has no ready endpoints',
};

function fail(outgoing: ServerResponse, status: number): void {
  const body = `${status} ${REASONS[status]}: ${EXPLANATIONS[status]}\n`;
  outgoing.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'content-length': body.length });
  outgoing.end(body);
}

/** What the client says of itself is replaced: it could say anything. */
function forwardedHeaders({ headers, socket }: IncomingMessage): IncomingHttpHeaders {
  const isTls = (socket as TLSSocket).encrypted === true;
  const dropped = new Set([...HOP_BY_HOP, ...listed(headers.connection)]);
  const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name)));
  const client = socket.remoteAddress?.replace(/^::ffff:/, '') ?? '';
  return {
    ...kept,
    'x-forwarded-for': client,
    'x-real-ip': client,
    'x-forwarded-proto': isTls ? 'https' : 'http',
    'x-forwarded-host': headers.host ?? '',
    'x-forwarded-port': String(socket.localPort ?? ''),
  };
}

const listed = (header = '') => header.split(',').map((name) => name.trim().toLowerCase());

function pairs(raw: readonly string[]): [string, string][] {
  return Array.from({ length: raw.length / 2 }, (_, index) => [raw[index * 2]!, raw[index * 2 + 1]!]);
}

/** In the order and spelling of the backend. */
function withoutHopByHop(raw: readonly string[]): string[] {
  return pairs(raw)
    .filter(([name]) => !HOP_BY_HOP.has(name.toLowerCase()))
    .flat();
}

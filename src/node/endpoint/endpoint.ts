/** The HTTPS server of an agent. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer, type TLSSocket, type Server as TlsServer } from 'node:tls';
import { ApiError, badRequest } from '../../api/errors.ts';
import { isUpgradePath, type UpgradePort } from '../../api/machine-upgrade.ts';
import { duplexPair } from '../../base/bytes/duplex-pair.ts';
import type { Tools } from '../../base/tools.ts';
import type { Client } from '../../client/client.ts';
import { type Access, accessOf, requireServer } from './access/access.ts';
import type { EndpointNode } from './endpoint-node.ts';
import { PodStreams } from './pod-streams.ts';
import { type EndpointRoute, routeOf } from './route.ts';
import { serveCommandRequest } from './routes/command.ts';
import { serveConnect } from './routes/connect.ts';
import { logRequestOf, sendContainerLogs } from './routes/container-logs.ts';
import { documentOf } from './routes/documents.ts';
import { sendLogFile } from './routes/log-files.ts';
import { servePortForward } from './routes/port-forward.ts';
import { runCommand } from './routes/run.ts';
import { upgradeAnswer } from './routes/upgrade.ts';
import { errorText, UpgradeExchange } from './upgrade-exchange.ts';

export interface EndpointOptions extends Pick<Tools, 'clock' | 'log'> {
  readonly node: EndpointNode;
  /** Acts as the node. */
  readonly client: Client;
  /** For `/configz`: the settings of the agent, with the names of KubeletConfiguration. */
  readonly config: object;
  /** The machine's log files, for `/logs/`. */
  readonly logDirectory: string;
  /** Replaces the program of the node; undefined: the node is a part of another program. */
  readonly upgrades?: UpgradePort | undefined;
}

/** As PEM. */
export interface ServingIdentity {
  readonly cert: string;
  readonly key: string;
}

/** Rejects like `listen`, with the code EADDRINUSE when the port is taken. */
export type ListenOnPort = (server: TlsServer, port: number) => Promise<void>;

/** The default of kubelet. */
const DEFAULT_PORT = 10_250;
/** Ports after the default one that are tried when it is taken. */
const MAX_NEXT_PORTS = 1_000;
const MAX_CONNECTIONS = 2_000;
const HEADERS_TIMEOUT_MS = 10_000;
const HANDSHAKE_TIMEOUT_MS = 10_000;

export class Endpoint {
  readonly #access: Access;
  readonly #health = { asked: 0 };
  readonly #streams: PodStreams;
  readonly #http: Server;
  #tls: TlsServer | undefined;
  /** Connections of the same process, which may do everything. */
  readonly #trusted = new WeakSet<object>();
  readonly #connections = new Set<Duplex>();

  constructor(private readonly options: EndpointOptions) {
    const { client, clock, node } = options;
    this.#access = accessOf({ client, clock, node: node.name });
    this.#streams = new PodStreams(node);
    this.#http = createServer({ headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: 0 });
    this.#http.on('request', (request, response) => void this.#serve(request, response));
    this.#http.on('upgrade', (request, socket, head) => void this.#upgrade(request, socket, head));
    this.#http.on('connect', (request, socket, head) => void this.#upgrade(request, socket, head));
  }

  /**
   * Listens on kubelet's port or the next free one, and resolves with that. `authority` signs the certificates of clients.
   * Connections fail until there is a certificate to serve with. `on`: an address, or what has a server listen on a port.
   */
  async listen(on: string | ListenOnPort, authority: string): Promise<number> {
    this.#tls = createTlsServer({
      ca: authority,
      requestCert: true,
      rejectUnauthorized: false,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      minVersion: 'TLSv1.2',
      allowHalfOpen: true,
    });
    this.#tls.maxConnections = MAX_CONNECTIONS;
    this.#tls.on('secureConnection', (socket: TLSSocket) => this.#http.emit('connection', this.#follow(socket)));
    // Also those that never finish their handshake.
    this.#tls.on('connection', (socket) => this.#follow(socket));
    this.#tls.on('tlsClientError', (error, socket) => {
      socket.destroy();
      this.options.log.debug('a connection to the endpoint failed', { error: error.message });
    });
    for (let port = DEFAULT_PORT; ; port++) {
      try {
        if (typeof on === 'string') return await listening(this.#tls, port, on);
        await on(this.#tls, port);
        return port;
      } catch (error) {
        const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
        if (!isTaken || port >= DEFAULT_PORT + MAX_NEXT_PORTS) throw error;
      }
    }
  }

  /** Serves new connections with this certificate. `authority` signs the certificates of clients. */
  use({ cert, key }: ServingIdentity, authority: string): void {
    this.#tls?.setSecureContext({ cert, key, ca: authority });
  }

  /** Opens a connection from the same process, with the rights of the server. */
  connect(): Duplex {
    const [near, far] = duplexPair();
    this.#trusted.add(far);
    this.#http.emit('connection', this.#follow(far));
    return near;
  }

  async close(): Promise<void> {
    const tls = this.#tls;
    const closed = tls && new Promise((resolve) => tls.close(resolve));
    for (const connection of this.#connections) connection.destroy();
    await closed;
  }

  #follow<T extends Duplex>(connection: T): T {
    this.#connections.add(connection);
    connection.on('error', () => connection.destroy());
    connection.once('close', () => this.#connections.delete(connection));
    return connection;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const left = new AbortController();
    response.once('close', () => left.abort());
    try {
      const { path, query } = targetOf(request);
      await this.#authorize(request, path);
      if (isUpgradePath(path)) return await this.#serveUpgrade(request, response);
      // No other path takes a body; one that is sent is not kept.
      request.resume();
      const route = routeOf(path);
      if (!route) throw new ApiError('NotFound', '404 page not found');
      await this.#respond(response, route, { method: request.method ?? '', query, signal: left.signal });
    } catch (error) {
      this.#fail(response, error);
    }
  }

  async #respond(
    response: ServerResponse,
    route: EndpointRoute,
    { method, query, signal }: { method: string; query: URLSearchParams; signal: AbortSignal },
  ): Promise<void> {
    const { node, clock, config, logDirectory } = this.options;
    if (route.type === 'run') {
      if (method !== 'POST') throw notAllowed();
      const output = await runCommand(route.target, query.get('cmd') ?? '', { node, streams: this.#streams });
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(output);
      return;
    }
    if (route.type === 'exec' || route.type === 'attach' || route.type === 'portForward') {
      throw badRequest('Upgrade request required');
    }
    if (method !== 'GET' && method !== 'HEAD') throw notAllowed();
    switch (route.type) {
      case 'containerLogs':
        return sendContainerLogs(response, logRequestOf(route.target, query, { clock, signal }), this.#streams);
      case 'logFile':
        return sendLogFile(response, logDirectory, route.path);
      case 'document': {
        const { contentType, body } = await documentOf(route.name, { node, config, health: this.#health });
        response.writeHead(200, { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(body) }).end(body);
      }
    }
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const exchange = new UpgradeExchange(request, socket, head);
    try {
      if (request.method === 'CONNECT') {
        await this.#authorize(request, '');
        await serveConnect(exchange, request.url ?? '', this.options.node);
        return;
      }
      const { path, query } = targetOf(request);
      await this.#authorize(request, path);
      const route = routeOf(path);
      if (!route) throw new ApiError('NotFound', '404 page not found');
      await this.#switch(exchange, route, query);
    } catch (error) {
      exchange.reject(error);
    }
  }

  async #switch(exchange: UpgradeExchange, route: EndpointRoute, query: URLSearchParams): Promise<void> {
    const { clock } = this.options;
    const streams = this.#streams;
    switch (route.type) {
      case 'exec':
      case 'attach':
        return serveCommandRequest(exchange, { type: route.type, target: route.target, query }, { streams, clock });
      case 'portForward':
        return servePortForward(exchange, { target: route.target, query }, streams);
      default:
        throw badRequest('this path has no other protocol');
    }
  }

  async #authorize(request: IncomingMessage, path: string): Promise<void> {
    if (!this.#trusted.has(request.socket)) await this.#access(request, path);
  }

  /** For the server alone, whatever rights others have on the node. */
  async #serveUpgrade(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { clock, upgrades } = this.options;
    if (!this.#trusted.has(request.socket)) requireServer(request, clock.now());
    const body = Buffer.from(JSON.stringify(await upgradeAnswer(request, upgrades)));
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length }).end(body);
  }

  #fail(response: ServerResponse, error: unknown): void {
    const { code, message } = errorText(error);
    if (code >= 500) this.options.log.debug('a request to the endpoint failed', { error: message });
    if (response.headersSent) {
      response.destroy();
      return;
    }
    // The client does not read the response before it has sent the rest of its body.
    response.req.resume();
    response.writeHead(code, { 'Content-Type': 'text/plain; charset=utf-8' }).end(message);
  }
}

const notAllowed = () => new ApiError('MethodNotAllowed', '405: Method Not Allowed');

/** Path and query of a request. Throws a BadRequest. */
function targetOf({ url = '' }: IncomingMessage): { readonly path: string; readonly query: URLSearchParams } {
  if (!url.startsWith('/')) throw badRequest('invalid request target');
  const end = url.indexOf('?');
  return end < 0
    ? { path: url, query: new URLSearchParams() }
    : { path: url.slice(0, end), query: new URLSearchParams(url.slice(end + 1)) };
}

function listening(server: TlsServer, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host }, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

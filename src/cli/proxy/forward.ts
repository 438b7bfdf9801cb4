/** Passes requests on to the server with the credentials of a connection: bodies and watches as they come, and upgrades. */
import * as http from 'node:http';
import * as https from 'node:https';
import type { Duplex } from 'node:stream';
import type { Connection } from '../../client/kubeconfig/kubeconfig.ts';

export interface Forwarder {
  /** `path` with its query, as the server is to see it. */
  request(incoming: http.IncomingMessage, outgoing: http.ServerResponse, path: string): void;
  upgrade(incoming: http.IncomingMessage, socket: Duplex, head: Buffer, path: string): void;
  close(): void;
}

export interface ForwardOptions {
  readonly connection: Connection;
  readonly appendServerPath: boolean;
  /** Milliseconds; 0: as the system has it. */
  readonly keepalive: number;
}

/** About one connection alone; the next one has its own. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export function createForwarder({ connection, appendServerPath, keepalive }: ForwardOptions): Forwarder {
  const base = new URL(connection.server);
  const plain = base.protocol === 'http:';
  const probing = { keepAlive: true, ...(keepalive > 0 ? { keepAliveMsecs: keepalive } : {}) };
  const agent = plain ? new http.Agent(probing) : new https.Agent({ ...probing, ...secure(connection) });
  const prefix = appendServerPath ? base.pathname.replace(/\/$/, '') : '';
  const authorization = authorizationOf(connection);

  const open = (
    incoming: http.IncomingMessage,
    path: string,
    own: http.OutgoingHttpHeaders,
    pool: typeof agent | false,
  ) =>
    (plain ? http : https).request({
      method: incoming.method,
      host: base.hostname.replace(/^\[|\]$/g, ''),
      port: base.port || (plain ? 80 : 443),
      path: prefix + path,
      agent: pool,
      ...(pool ? {} : secure(connection)),
      headers: {
        ...endToEnd(incoming.headers),
        ...own,
        host: base.host,
        // Whoever brings credentials means them.
        ...(authorization && !incoming.headers.authorization ? { authorization } : {}),
      },
    });

  return {
    request(incoming, outgoing, path) {
      const call = open(incoming, path, {}, agent);
      call.on('response', (response) => {
        outgoing.writeHead(response.statusCode ?? 502, endToEnd(response.headers));
        // The head of a watch goes out before its first event.
        outgoing.flushHeaders();
        response.pipe(outgoing);
        response.on('error', () => outgoing.destroy());
      });
      call.on('error', (error) => refuse(outgoing, error));
      outgoing.on('close', () => call.destroy());
      incoming.pipe(call);
    },

    upgrade(incoming, socket, head, path) {
      const own = { connection: 'Upgrade', upgrade: incoming.headers.upgrade ?? '' };
      const call = open(incoming, path, own, false);
      socket.on('error', () => call.destroy());
      call.on('upgrade', (response, upstream, first) => {
        socket.write(headOf(response));
        join(socket, upstream, { head, first });
      });
      // It was not taken: the answer is passed on, and the connection is over.
      call.on('response', (response) => {
        socket.write(headOf(response));
        response.pipe(socket);
      });
      call.on('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\n\r\n'));
      call.end();
    },

    close: () => agent.destroy(),
  };
}

function secure({ ca, cert, key, tlsServerName, insecureSkipTlsVerify }: Connection): https.AgentOptions {
  return {
    ...(ca ? { ca } : {}),
    ...(cert ? { cert } : {}),
    ...(key ? { key } : {}),
    ...(tlsServerName ? { servername: tlsServerName } : {}),
    ...(insecureSkipTlsVerify ? { rejectUnauthorized: false } : {}),
  };
}

function authorizationOf({ token, username, password }: Connection): string | undefined {
  if (token) return `Bearer ${token}`;
  return username ? `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}` : undefined;
}

function endToEnd(headers: http.IncomingHttpHeaders): http.OutgoingHttpHeaders {
  const named = (headers.connection ?? '')
    .toLowerCase()
    .split(',')
    .map((part) => part.trim());
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name) && !named.includes(name)));
}

/** The head of an answer as it came. */
function headOf({ statusCode, statusMessage, rawHeaders }: http.IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let i = 0; i < rawHeaders.length; i += 2) lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function join(client: Duplex, server: Duplex, { head, first }: { head: Buffer; first: Buffer }): void {
  if (head.length > 0) server.write(head);
  if (first.length > 0) client.write(first);
  client.pipe(server).pipe(client);
  const end = () => {
    client.destroy();
    server.destroy();
  };
  for (const socket of [client, server]) {
    socket.on('error', end);
    socket.on('close', end);
  }
}

function refuse(outgoing: http.ServerResponse, error: Error): void {
  if (outgoing.headersSent) return void outgoing.destroy();
  outgoing.writeHead(502, { 'content-type': 'text/plain; charset=utf-8' });
  outgoing.end(`the server cannot be reached: ${(error as NodeJS.ErrnoException).code ?? error.message}\n`);
}

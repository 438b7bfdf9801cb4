/** Forwards requests and upgrades to the server with the credentials of a connection. Bodies are streamed. */
import * as http from 'node:http';
import * as https from 'node:https';
import type { Duplex } from 'node:stream';
import { bodyFraming } from '../../base/http/body-framing.ts';
import { refuseUpgrade } from '../../base/http/refuse-upgrade.ts';
import type { Connection } from '../../client/kubeconfig/kubeconfig.ts';

export interface Forwarder {
  /** `path` is what the server gets, query included. */
  request(incoming: http.IncomingMessage, outgoing: http.ServerResponse, path: string): void;
  upgrade(incoming: http.IncomingMessage, socket: Duplex, head: Buffer, path: string): void;
  close(): void;
}

export interface ForwardOptions {
  readonly connection: Connection;
  readonly appendServerPath: boolean;
  /** Milliseconds; 0: the system's default. */
  readonly keepalive: number;
}

/** Headers that concern a single connection, and are not forwarded. */
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
  const isPlain = base.protocol === 'http:';
  const keepAliveOptions = { keepAlive: true, keepAliveMsecs: keepalive > 0 ? keepalive : undefined };
  const agent = isPlain
    ? new http.Agent(keepAliveOptions)
    : new https.Agent({ ...keepAliveOptions, ...tlsOptions(connection) });
  const prefix = appendServerPath ? base.pathname.replace(/\/$/, '') : '';
  const authorization = authorizationOf(connection);

  const open = (
    incoming: http.IncomingMessage,
    path: string,
    own: http.OutgoingHttpHeaders,
    pool: typeof agent | false,
  ) =>
    (isPlain ? http : https).request({
      method: incoming.method,
      host: base.hostname.replace(/^\[|\]$/g, ''),
      port: base.port || (isPlain ? 80 : 443),
      path: prefix + path,
      agent: pool,
      ...(pool ? {} : tlsOptions(connection)),
      headers: {
        ...endToEnd(incoming.headers),
        ...own,
        host: base.host,
        // Credentials of the client take precedence.
        ...(authorization && !incoming.headers.authorization ? { authorization } : {}),
      },
    });

  return {
    request(incoming, outgoing, path) {
      const call = open(incoming, path, framingOf(incoming), agent);
      call.on('response', (response) => {
        try {
          outgoing.writeHead(response.statusCode ?? 502, endToEnd(response.headers));
        } catch {
          // HTTP does not allow the status, or a header.
          call.destroy();
          return answerUnreachable(outgoing, new Error('invalid response'));
        }
        // The headers of a watch are sent before its first event.
        outgoing.flushHeaders();
        response.pipe(outgoing);
        response.on('error', () => outgoing.destroy());
      });
      call.on('error', (error) => answerUnreachable(outgoing, error));
      refuseUpgrade(call);
      outgoing.on('close', () => call.destroy());
      incoming.pipe(call);
    },

    upgrade(incoming, socket, head, path) {
      const own = { connection: 'Upgrade', upgrade: incoming.headers.upgrade ?? '' };
      const call = open(incoming, path, own, false);
      socket.on('error', () => call.destroy());
      call.on('upgrade', (response, upstream, first) => {
        socket.write(headOf(response));
        pipeBoth(socket, upstream, { head, first });
      });
      // The upgrade was refused: the response is forwarded, and the connection ends.
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

function tlsOptions({ ca, cert, key, tlsServerName, insecureSkipTlsVerify }: Connection): https.AgentOptions {
  return {
    ca: ca || undefined,
    cert: cert || undefined,
    key: key || undefined,
    servername: tlsServerName || undefined,
    ...(insecureSkipTlsVerify ? { rejectUnauthorized: false } : {}),
  };
}

function authorizationOf({ token, username, password }: Connection): string | undefined {
  if (token) return `Bearer ${token}`;
  return username ? `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}` : undefined;
}

function framingOf({ headers }: http.IncomingMessage): http.OutgoingHttpHeaders {
  const length = headers['content-length'];
  const hasBody = headers['transfer-encoding'] !== undefined || length !== undefined;
  return hasBody ? bodyFraming(length) : {};
}

function endToEnd(headers: http.IncomingHttpHeaders): http.OutgoingHttpHeaders {
  const named = (headers.connection ?? '')
    .toLowerCase()
    .split(',')
    .map((part) => part.trim());
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name) && !named.includes(name)));
}

/** The status line and headers of a response, as received. */
function headOf({ statusCode, statusMessage, rawHeaders }: http.IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let i = 0; i < rawHeaders.length; i += 2) lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function pipeBoth(client: Duplex, server: Duplex, { head, first }: { head: Buffer; first: Buffer }): void {
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

function answerUnreachable(outgoing: http.ServerResponse, error: Error): void {
  if (outgoing.headersSent) return void outgoing.destroy();
  outgoing.writeHead(502, { 'content-type': 'text/plain; charset=utf-8' });
  outgoing.end(`the server cannot be reached: ${(error as NodeJS.ErrnoException).code ?? error.message}\n`);
}

import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { connect as connectTls } from 'node:tls';
import { ApiError } from '../../../base/errors.ts';
import { joined } from '../../../base/remote-command/joined.ts';
import type { ClientConnection } from '../../api.ts';
import type { ProxyTarget } from './target.ts';

/** Of one connection, not of the message. The client's credentials are meant for this server. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...['authorization', 'connection', 'content-length', 'host', 'http2-settings', 'keep-alive', 'proxy-authenticate'],
  ...['proxy-authorization', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

/** Passes a request on, and its response back. Rejects with an ApiError as long as there is no response. */
export async function forward(client: ClientConnection, target: ProxyTarget, path: string): Promise<void> {
  if (path === '' && (client.method === 'GET' || client.method === 'HEAD')) {
    redirectToSlash(client);
    return;
  }
  const answer = await send(client, target, path === '' ? '/' : path);
  if (answer.socket) {
    await joined(client.upgrade(headersOf(answer.response, client, path)), answer.socket).catch(() => undefined);
    return;
  }
  const { response } = answer;
  const out = client.respond(response.statusCode ?? 200, headersOf(response, client, path));
  // Either end may leave: then so does the other.
  await pipeline(response, out).catch(() => undefined);
}

/** Relative links of a page would lead to its parent. */
function redirectToSlash(client: ClientConnection): void {
  const [path = '', ...search] = client.url.split('?');
  const location = [`${path}/`, ...search].join('?');
  client.respond(301, ['Location', location, 'Content-Length', '0']).end();
}

interface Answer {
  readonly response: IncomingMessage;
  /** If the protocol was switched. */
  readonly socket?: Duplex;
}

async function send(client: ClientConnection, target: ProxyTarget, path: string): Promise<Answer> {
  const { method, headers, signal } = client;
  const body = await client.body();
  const connection = await reached(connected(target, signal));
  const search = client.url.includes('?') ? client.url.slice(client.url.indexOf('?')) : '';
  const isUpgrade = headers.upgrade !== undefined;
  const passedOn = Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name) && !name.startsWith(':'));
  const request = httpRequest({
    createConnection: () => connection,
    ...{ method, path: path + search, signal, setHost: false },
    headers: {
      ...Object.fromEntries(passedOn),
      host: target.host,
      connection: isUpgrade ? 'Upgrade' : 'close',
      ...(isUpgrade ? { upgrade: headers.upgrade } : {}),
      ...(body.length > 0 || method === 'POST' || method === 'PUT' || method === 'PATCH'
        ? { 'content-length': String(body.length) }
        : {}),
      'x-forwarded-for': [headers['x-forwarded-for'], client.address].flat().filter(Boolean).join(', '),
      'x-forwarded-uri': client.url.split('?')[0]!,
    },
  });
  const answered = new Promise<Answer>((resolve, reject) => {
    request.once('response', (response) => resolve({ response }));
    request.once('upgrade', (response, socket, head) => {
      if (head.length > 0) socket.unshift(head);
      resolve({ response, socket });
    });
    request.on('error', reject);
  });
  request.end(body);
  return reached(answered);
}

async function connected(target: ProxyTarget, signal: AbortSignal): Promise<Duplex> {
  const connection = await target.connect(signal);
  // Programs in pods have certificates of their own making.
  return target.scheme === 'http' ? connection : connectTls({ socket: connection, rejectUnauthorized: false });
}

async function reached<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError('ServiceUnavailable', `error trying to reach service: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** Names and values. A redirect to a path of the program leads through the proxy again. */
function headersOf(response: IncomingMessage, client: ClientConnection, path: string): string[] {
  const { rawHeaders } = response;
  const isUpgrade = response.statusCode === 101;
  const own = client.url.split('?')[0]!;
  const prefix = path !== '' && own.endsWith(path) ? own.slice(0, -path.length) : own.replace(/\/$/, '');
  const headers: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name, value] = [rawHeaders[i]!, rawHeaders[i + 1]!];
    const key = name.toLowerCase();
    if (OWN_HEADERS.has(key) && key !== 'content-length' && !(isUpgrade && (key === 'connection' || key === 'upgrade')))
      continue;
    headers.push(name, key === 'location' && value.startsWith('/') && !value.startsWith('//') ? prefix + value : value);
  }
  return headers;
}

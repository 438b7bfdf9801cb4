import type { IncomingMessage } from 'node:http';
import type { Duplex, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { connect as connectTls } from 'node:tls';
import { createDeflate, createGunzip, createGzip, createInflate } from 'node:zlib';
import { ApiError } from '../../../../api/errors.ts';
import type { QueryParameters } from '../../../../api/parameters.ts';
import { joined } from '../../../../api/remote-command/joined.ts';
import type { ClientConnection, ConnectionReply } from '../../../../api/reply.ts';
import type { Reader, Tools } from '../../../objects/ports.ts';
import type { ApiRequest } from '../../../objects/registry/registry.ts';
import type { Outbound } from '../../../outbound/ports.ts';
import { forwardedResponse } from '../../../outbound/services/headers.ts';
import { type ForwardedAnswer, headProblem, sendForwarded } from '../../../outbound/services/send.ts';
import type { Subresource } from '../subresource.ts';
import { htmlLinks } from './html-links.ts';
import { type ProxyLocation, rewriteUrl } from './rewrite-url.ts';
import { type ProxyTarget, targetOf } from './target.ts';

type Ports = Pick<Reader, 'cache'> & Pick<Tools, 'random'> & Outbound;

const PARAMETERS = {
  path: { type: 'string', description: 'Path of the request that is passed on, if none follows in the URL.' },
} as const satisfies QueryParameters;

/** Forwards a request to a pod, to a pod of a service, or to the agent of a node. */
export const proxy: Subresource<'proxy'> = {
  name: 'proxy',
  operations: { get: open, create: open, update: open, patch: open, delete: open },
  content: { type: 'connection', optionsKind: ({ kind }) => `${kind}ProxyOptions`, takesPath: true },
  parameters: PARAMETERS,
};

async function open(core: Ports, request: ApiRequest): Promise<ConnectionReply> {
  const target = await targetOf(core, request);
  const { path = '', parameters } = request.call;
  const queried = parameters?.path;
  const given = path === '' && typeof queried === 'string' ? queried : path;
  return { type: 'connection', serve: (client) => forward(client, target, given) };
}

/** Forwards a request, and returns its response. Rejects with an ApiError only before a response was sent. */
async function forward(client: ClientConnection, target: ProxyTarget, path: string): Promise<void> {
  const isUpgrade = client.headers.upgrade !== undefined;
  if (path === '' && !isUpgrade && (client.method === 'GET' || client.method === 'HEAD')) {
    redirectToSlash(client);
    return;
  }
  const location = locationOf(client, target, path);
  const answer = await send(client, target, path === '' ? '/' : path);
  const { request, response, socket } = answer;
  const problem = headProblem(answer, isUpgrade);
  if (problem !== undefined) {
    request.destroy();
    throw new ApiError('ServiceUnavailable', problem);
  }
  const headers = headersOf(response, location);
  if (socket) {
    await joined(client.upgrade(headers), socket).catch(() => undefined);
    return;
  }
  const rewriting = client.method === 'HEAD' ? undefined : rewritingOf(response, (url) => rewriteUrl(url, location));
  const out = client.respond(response.statusCode ?? 200, rewriting ? withoutLength(headers) : headers);
  // When either end disconnects, so does the other.
  await pipeline([response, ...(rewriting ?? []), out]).catch(() => undefined);
  // The program has responded, and does not get the rest of the request body.
  if (!request.writableFinished) request.destroy();
}

function locationOf(client: ClientConnection, target: ProxyTarget, path: string): ProxyLocation {
  const own = client.url.split('?')[0]!;
  const prefix = path !== '' && own.endsWith(path) ? own.slice(0, -path.length) : own.replace(/\/$/, '');
  return { prefix, targetHost: target.host, clientHost: client.headers.host ?? String(client.headers[':authority']) };
}

/** Returns transforms that make the links of a page lead through the proxy; undefined for other content. */
function rewritingOf({ headers }: IncomingMessage, rewrite: (url: string) => string): Transform[] | undefined {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  // A redirect has its link in a header.
  if (type !== 'text/html' || headers.location !== undefined) return undefined;
  switch (headers['content-encoding'] ?? '') {
    case '':
      return [htmlLinks(rewrite)];
    case 'gzip':
      return [createGunzip(), htmlLinks(rewrite), createGzip()];
    case 'deflate':
      return [createInflate(), htmlLinks(rewrite), createDeflate()];
    default:
      return undefined;
  }
}

/** Redirects to the path with a slash: relative links of the page would otherwise lead to its parent. */
function redirectToSlash(client: ClientConnection): void {
  const [path = '', ...search] = client.url.split('?');
  const location = [`${path}/`, ...search].join('?');
  client.respond(301, ['Location', location, 'Content-Length', '0']).end();
}

async function send(client: ClientConnection, target: ProxyTarget, path: string): Promise<ForwardedAnswer> {
  const connection = await reached(connected(target, client.signal));
  const search = client.url.includes('?') ? client.url.slice(client.url.indexOf('?')) : '';
  const headers = { 'x-forwarded-uri': client.url.split('?')[0]! };
  return reached(sendForwarded(client, { host: target.host, path: path + search, headers, over: connection }));
}

async function connected(target: ProxyTarget, signal: AbortSignal): Promise<Duplex> {
  const connection = await target.connect(signal);
  // Programs in pods have self-signed certificates.
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

/** CORS headers of the program, which do not apply to this server. */
const CORS_HEADERS = ['credentials', 'headers', 'methods', 'origin'].map((name) => `access-control-allow-${name}`);

/** Returns the response headers as names and values. A redirect within the program leads through the proxy again. */
function headersOf({ rawHeaders, statusCode }: IncomingMessage, location: ProxyLocation): string[] {
  const all = forwardedResponse(rawHeaders, statusCode === 101);
  const headers: string[] = [];
  for (let i = 0; i < all.length; i += 2) {
    const [name, value] = [all[i]!, all[i + 1]!];
    const key = name.toLowerCase();
    if (!CORS_HEADERS.includes(key)) headers.push(name, key === 'location' ? rewriteUrl(value, location) : value);
  }
  return headers;
}

function withoutLength(headers: readonly string[]): string[] {
  return headers.filter((_, index) => headers[index - (index % 2)]!.toLowerCase() !== 'content-length');
}

/** One HTTP request to a registry, with its redirects. */
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { RuntimeError } from '../../runtime/errors.ts';

export interface HttpRequest {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Whether any certificate is good enough. */
  readonly isInsecure: boolean;
}

/** How long a registry may send nothing. */
const IDLE_TIMEOUT_MS = 30_000;
const MAX_REDIRECTS = 10;
const USER_AGENT = 'quarterdeck';

/** Follows redirects; other hosts do not get the credentials. Rejects with code `RegistryUnavailable`. */
export async function send(request: HttpRequest): Promise<IncomingMessage> {
  let current = request;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await sendOnce(current);
    const { statusCode = 0, headers } = response;
    if (statusCode < 300 || statusCode > 308 || headers.location === undefined) return response;
    response.resume();
    current = redirected(current, headers.location);
  }
  throw new RuntimeError('RegistryUnavailable', `${request.url} redirects too often`);
}

function redirected(request: HttpRequest, location: string): HttpRequest {
  const from = new URL(request.url);
  const to = new URL(location, from);
  if (from.protocol === 'https:' && to.protocol !== 'https:' && !request.isInsecure) {
    throw new RuntimeError('RegistryUnavailable', `${from.host} redirects to ${to.host} without TLS`);
  }
  const { Authorization, ...others } = request.headers ?? {};
  const keeps = to.host === from.host && Authorization !== undefined;
  return { ...request, url: to.href, headers: keeps ? { ...others, Authorization } : others };
}

function sendOnce({ url, method = 'GET', headers, body, isInsecure }: HttpRequest): Promise<IncomingMessage> {
  const target = new URL(url);
  const options = { method, headers: { 'User-Agent': USER_AGENT, ...headers }, timeout: IDLE_TIMEOUT_MS };
  return new Promise((resolve, reject) => {
    const fail = (error: Error) =>
      reject(new RuntimeError('RegistryUnavailable', `${method} ${url}: ${error.message}`, { cause: error }));
    const outgoing =
      target.protocol === 'https:'
        ? requestHttps(target, { ...options, rejectUnauthorized: !isInsecure }, resolve)
        : requestHttp(target, options, resolve);
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer for ${IDLE_TIMEOUT_MS / 1000} s`)));
    outgoing.on('error', fail);
    outgoing.end(body);
  });
}

/** Reads a body that is known to be small. */
export async function readBody(response: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response) {
    size += part.length;
    if (size > maxBytes) throw new RuntimeError('RegistryUnavailable', `the registry sent more than ${maxBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

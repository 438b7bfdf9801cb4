/** Sends an HTTP request to a registry and follows its redirects. */
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { refuseUpgrade } from '../../../base/http/refuse-upgrade.ts';
import { type DialAllowance, type DialGuard, namesLoopback } from '../../../base/sockets/dial/dial-guard.ts';
import { RuntimeError } from '../../runtime/errors.ts';

/** Allowed destinations of the requests for an image. */
export interface ImageDialing {
  readonly guard: DialGuard;
  /** Name or address of the host that the image, or the operator of the node, names. */
  readonly hostname: string;
  /** True when the operator of the node named it. */
  readonly isTrusted: boolean;
}

export interface HttpRequest {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** True to accept any certificate. */
  readonly isInsecure: boolean;
  readonly dialing: ImageDialing;
  /** Ends the request, and its response while it is read. */
  readonly signal: AbortSignal;
}

/** Timeout for a registry that sends nothing. */
const IDLE_TIMEOUT_MS = 30_000;
const MAX_REDIRECTS = 10;
const USER_AGENT = 'quarterdeck';

/** A response that another host than the one that was asked may have sent. */
export interface Answered {
  readonly response: IncomingMessage;
  /** True when the host that was asked has sent it. */
  readonly isOwn: boolean;
}

/** Follows redirects; other hosts do not get the credentials. Rejects with code `RegistryUnavailable`. */
export async function send(request: HttpRequest): Promise<Answered> {
  let current = request;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await sendOnce(current);
    const { statusCode = 0, headers } = response;
    if (statusCode < 300 || statusCode > 308 || headers.location === undefined) {
      return { response, isOwn: hostOf(current) === hostOf(request) };
    }
    // The body is not read: it may have no end.
    response.destroy();
    current = redirected(current, headers.location);
  }
  throw new RuntimeError('RegistryUnavailable', `${request.url} redirects too often`);
}

function redirected(request: HttpRequest, location: string): HttpRequest {
  const from = new URL(request.url);
  if (!URL.canParse(location, request.url)) {
    throw new RuntimeError('RegistryUnavailable', `${from.host} redirects to an invalid address`);
  }
  const to = new URL(location, from);
  if (from.protocol === 'https:' && to.protocol !== 'https:' && !request.isInsecure) {
    throw new RuntimeError('RegistryUnavailable', `${from.host} redirects to ${to.host} without TLS`);
  }
  const isOther = to.host !== from.host;
  if (isOther && request.body !== undefined) {
    throw new RuntimeError('RegistryUnavailable', `${from.host} redirects credentials to ${to.host}`);
  }
  const { Authorization, ...others } = request.headers ?? {};
  const keeps = !isOther && Authorization !== undefined;
  return { ...request, url: to.href, headers: keeps ? { ...others, Authorization } : others };
}

const hostOf = ({ url }: HttpRequest) => new URL(url).host;

/**
 * Returns the addresses that a host may lead to. A registry may run on the node; one that the operator did not name
 * must not send the node to its own addresses.
 */
function allowanceFor(target: string, { hostname, isTrusted }: ImageDialing): DialAllowance {
  if (isTrusted || namesLoopback(hostname)) return { loopback: true, own: true };
  return { own: target === hostname };
}

function sendOnce(request: HttpRequest): Promise<IncomingMessage> {
  const { url, method = 'GET', headers, body, isInsecure, dialing, signal } = request;
  const target = new URL(url);
  const allowance = allowanceFor(target.hostname, dialing);
  const options = {
    method,
    headers: { 'User-Agent': USER_AGENT, ...headers },
    timeout: IDLE_TIMEOUT_MS,
    signal,
    lookup: dialing.guard.lookup(allowance),
  };
  return new Promise((resolve, reject) => {
    const fail = (error: Error) =>
      reject(
        signal.aborted
          ? signal.reason
          : new RuntimeError('RegistryUnavailable', `${method} ${url}: ${error.message}`, { cause: error }),
      );
    try {
      dialing.guard.checkHost(target.hostname, allowance);
    } catch (error) {
      fail(error as Error);
      return;
    }
    const outgoing =
      target.protocol === 'https:'
        ? requestHttps(target, { ...options, rejectUnauthorized: !isInsecure }, resolve)
        : requestHttp(target, options, resolve);
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer for ${IDLE_TIMEOUT_MS / 1000} s`)));
    outgoing.on('error', fail);
    refuseUpgrade(outgoing);
    outgoing.end(body);
  });
}

/** Reads a body that is known to be small. */
export async function readBody(
  response: AsyncIterable<Buffer>,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of response) {
      size += part.length;
      if (size > maxBytes)
        throw new RuntimeError('RegistryUnavailable', `the registry sent more than ${maxBytes} bytes`);
      parts.push(part);
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
  return Buffer.concat(parts);
}

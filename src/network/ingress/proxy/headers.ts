/** The headers of forwarded requests and of their responses. Pure. */

import { Agent, type AgentOptions, type ClientRequestArgs, type IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import { bodyFraming } from '../../../base/http/body-framing.ts';
import type { DialGuard } from '../../../base/sockets/dial/dial-guard.ts';
import type { BackendAddress } from '../config.ts';

/** Headers that concern one connection and are not forwarded (RFC 9110, section 7.6.1). */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['proxy-authenticate', 'proxy-authorization', 'expect', 'http2-settings'],
]);

export interface Client {
  readonly address: string;
  readonly isTls: boolean;
  /** The port of the proxy that it uses. */
  readonly port: number | undefined;
}

/** Replaces headers by which clients describe themselves: they could claim anything. `host` is that of the request. */
export function forwardedHeaders(
  headers: IncomingHttpHeaders,
  { host, hasBody }: { readonly host: string; readonly hasBody: boolean },
  client: Client,
): IncomingHttpHeaders {
  const dropped = new Set([...HOP_BY_HOP, ...listed(headers.connection), 'content-length']);
  const kept = Object.fromEntries(
    Object.entries(headers).filter(([name]) => !name.startsWith(':') && !dropped.has(name)),
  );
  return {
    ...kept,
    ...(hasBody ? bodyFraming(headers['content-length']) : {}),
    host,
    'x-forwarded-for': client.address,
    'x-real-ip': client.address,
    'x-forwarded-proto': client.isTls ? 'https' : 'http',
    'x-forwarded-host': host,
    'x-forwarded-port': String(client.port ?? ''),
  };
}

const listed = (header = '') => header.split(',').map((name) => name.trim().toLowerCase());

/** Raw headers as pairs. */
export function pairs(raw: readonly string[]): [string, string][] {
  return Array.from({ length: raw.length / 2 }, (_, index) => [raw[index * 2]!, raw[index * 2 + 1]!]);
}

/** Returns headers in the order and spelling of the backend. */
export function responseHeaders(raw: readonly string[]): string[] {
  return pairs(raw)
    .filter(([name]) => !HOP_BY_HOP.has(name.toLowerCase()))
    .flat();
}

/**
 * Returns headers for HTTP/2: lower case, with all values of a name together. Node throws for many names that have more
 * than one.
 */
export function groupedHeaders(raw: readonly string[]): Record<string, string | string[]> {
  const grouped: Record<string, string | string[]> = Object.create(null);
  const cookies: string[] = [];
  for (const [name, value] of pairs(responseHeaders(raw))) {
    const lower = name.toLowerCase();
    const known = grouped[lower];
    if (lower === 'set-cookie') cookies.push(value);
    else grouped[lower] = known === undefined ? value : `${known}, ${value}`;
  }
  if (cookies.length > 0) grouped['set-cookie'] = cookies;
  return grouped;
}

/** Options of a request that the agent gets as well. */
export interface BackendRequestOptions extends ClientRequestArgs {
  readonly mayBeOwn: BackendAddress['mayBeOwn'];
}

type Created = (error: Error | null, socket: Duplex) => void;

/** Opens and keeps connections to backends. Each goes to an address that was checked. */
export class BackendAgent extends Agent {
  #guard: DialGuard;

  constructor(guard: DialGuard, options: AgentOptions) {
    super(options);
    this.#guard = guard;
  }

  /** Checks new connections by another guard. */
  guardBy(guard: DialGuard): void {
    this.#guard = guard;
  }

  override createConnection(options: ClientRequestArgs, done?: Created): Duplex | null | undefined {
    const { mayBeOwn = false } = options as BackendRequestOptions;
    const allowance = { own: mayBeOwn };
    try {
      this.#guard.checkHost(options.host ?? '', allowance);
    } catch (error) {
      // As if the connection had failed.
      (done as (error: Error) => void)(error as Error);
      return undefined;
    }
    return super.createConnection({ ...options, lookup: this.#guard.lookup(allowance) }, done);
  }
}

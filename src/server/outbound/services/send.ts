/** Forwards a client's request to another program, streaming its body. */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { type Agent, request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import type { ClientConnection } from '../../../api/reply.ts';
import { bodyFraming } from '../../../base/http/body-framing.ts';
import { forwardedHeaders } from './headers.ts';

export type ForwardedClient = Pick<ClientConnection, 'method' | 'headers' | 'hasBody' | 'body' | 'address' | 'signal'>;

export interface ForwardOptions {
  /** The `Host` of the request. */
  readonly host: string;
  /** Path and query. */
  readonly path: string;
  /** Additional headers, which replace those of the client. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Reports whether to omit a header of the client, besides those that are always omitted. */
  readonly isWithheld?: (header: string) => boolean;
  /** An open connection, which is closed after the response, or an agent that opens and keeps TLS connections. */
  readonly over: Duplex | Agent;
}

export interface ForwardedAnswer {
  readonly request: ClientRequest;
  readonly response: IncomingMessage;
  /** The connection after switching protocols. */
  readonly socket?: Duplex;
}

/** Resolves when the response has begun. */
export function sendForwarded(
  client: ForwardedClient,
  { host, path, headers, isWithheld, over }: ForwardOptions,
): Promise<ForwardedAnswer> {
  const { method, signal } = client;
  const isUpgrade = client.headers.upgrade !== undefined;
  const isKept = !('write' in over) && !isUpgrade;
  const send = 'write' in over ? httpRequest : httpsRequest;
  const request = send({
    ...('write' in over ? { createConnection: () => over } : { agent: over }),
    method,
    path,
    signal,
    setHost: false,
    headers: {
      ...forwardedHeaders(client.headers, isWithheld),
      host,
      ...(isKept ? {} : { connection: isUpgrade ? 'Upgrade' : 'close' }),
      ...(isUpgrade ? { upgrade: client.headers.upgrade } : {}),
      ...framingOf(client),
      ...addressesOf(client),
      ...headers,
    },
  });
  const answered = new Promise<ForwardedAnswer>((resolve, reject) => {
    request.once('response', (response) => resolve({ request, response }));
    request.once('upgrade', (response, socket, head) => {
      // Node has released the socket, and no longer destroys it with the request: an unhandled error would end the
      // program.
      socket.on('error', () => undefined);
      if (!isUpgrade) socket.destroy();
      if (head.length > 0) socket.unshift(head);
      resolve({ request, response, socket });
    });
    request.on('error', reject);
    // Node does not report a request that is aborted before there is a connection.
    signal.addEventListener('abort', () => reject(new Error('the client has disconnected')), { once: true });
  });
  if (client.hasBody) {
    const body = client.body();
    // An unread rest of the body must not stop the response, so it is only disconnected.
    request.once('close', () => body.unpipe(request));
    body.once('error', () => request.destroy());
    body.pipe(request);
  } else request.end();
  return answered;
}

const SWITCHING_PROTOCOLS = 101;
const MAX_STATUS_CODE = 599;

/** Returns why a response cannot be passed back; undefined if it can. Node throws for a status unknown to HTTP. */
export function headProblem({ response, socket }: ForwardedAnswer, isUpgrade: boolean): string | undefined {
  const { statusCode: code = 0 } = response;
  if (socket) {
    return code === SWITCHING_PROTOCOLS && isUpgrade
      ? undefined
      : 'the backend switched to a protocol that was not asked for';
  }
  return code < 200 || code > MAX_STATUS_CODE ? `the backend answered with the invalid status ${code}` : undefined;
}

function framingOf({ method, headers, hasBody }: ForwardedClient): Record<string, string> {
  if (hasBody) return bodyFraming(headers['content-length']);
  return method === 'POST' || method === 'PUT' || method === 'PATCH' ? { 'content-length': '0' } : {};
}

/** Returns the addresses that the request passed through; a component in this process has none. */
function addressesOf({ headers, address }: ForwardedClient): Record<string, string> {
  const addresses = [headers['x-forwarded-for'], address].flat().filter(Boolean);
  return addresses.length > 0 ? { 'x-forwarded-for': addresses.join(', ') } : {};
}

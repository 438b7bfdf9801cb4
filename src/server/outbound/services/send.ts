/** Sends a client's request to another program, with its body as it arrives. */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { type Agent, request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import type { ClientConnection } from '../../../api/reply.ts';
import { bodyFraming } from '../../../base/body-framing.ts';
import { forwardedHeaders } from './headers.ts';

/** The client whose request is sent. */
export type ForwardedClient = Pick<ClientConnection, 'method' | 'headers' | 'hasBody' | 'body' | 'address' | 'signal'>;

export interface ForwardOptions {
  /** The `Host` of the request. */
  readonly host: string;
  /** Path and query. */
  readonly path: string;
  /** Further headers; they replace those of the client. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Whether a header of the client is left out, besides those that always are. */
  readonly isWithheld?: (header: string) => boolean;
  /** An open connection, which is closed after the response, or what opens and keeps TLS connections. */
  readonly over: Duplex | Agent;
}

export interface ForwardedAnswer {
  readonly request: ClientRequest;
  readonly response: IncomingMessage;
  /** If the protocol was switched. */
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
    ...{ method, path, signal, setHost: false },
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
      // Node has let go of the socket, and does not destroy it with the request any more: an error that nobody listens to would
      // end the program.
      socket.on('error', () => undefined);
      if (!isUpgrade) socket.destroy();
      if (head.length > 0) socket.unshift(head);
      resolve({ request, response, socket });
    });
    request.on('error', reject);
    // Node says nothing of a request that is given up before there is a connection.
    signal.addEventListener('abort', () => reject(new Error('the client has disconnected')), { once: true });
  });
  if (client.hasBody) {
    const body = client.body();
    // What is not read any more must not stop the response: the body is only let go of.
    request.once('close', () => body.unpipe(request));
    body.once('error', () => request.destroy());
    body.pipe(request);
  } else request.end();
  return answered;
}

const SWITCHING_PROTOCOLS = 101;
const MAX_STATUS_CODE = 599;

/** Why an answer cannot be passed back; undefined if it can. Node throws for a status that HTTP does not have. */
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

/** The addresses that the request came through; a component in this process has none. */
function addressesOf({ headers, address }: ForwardedClient): Record<string, string> {
  const addresses = [headers['x-forwarded-for'], address].flat().filter(Boolean);
  return addresses.length > 0 ? { 'x-forwarded-for': addresses.join(', ') } : {};
}

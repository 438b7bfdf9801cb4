/** Forwards requests to pods. Bodies are streamed in both directions. */

import { type ClientRequest, IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { Http2SecureServer, Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { refuseUpgrade } from '../../../base/http/refuse-upgrade.ts';
import type { DialGuard } from '../../../base/sockets/dial/dial-guard.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { type BackendAddress, EMPTY_CONFIG, type IngressConfig } from '../config.ts';
import {
  BackendAgent,
  type BackendRequestOptions,
  forwardedHeaders,
  groupedHeaders,
  pairs,
  responseHeaders,
} from './headers.ts';
import { backendFinder, type FindBackend } from './match.ts';

type Incoming = IncomingMessage | Http2ServerRequest;
type Outgoing = ServerResponse | Http2ServerResponse;

interface Answering {
  readonly outgoing: Outgoing;
  readonly isLast: () => boolean;
}

const MAX_STATUS = 599;
const CONTROL_CHARACTER = /\p{Cc}/u;
const CONNECT_TIMEOUT_MS = 5_000;
const MAX_IDLE_CONNECTIONS_PER_BACKEND = 32;
/** Number of endpoints that a request is sent to before the client is told that none responds. */
const MAX_ATTEMPTS = 3;
/** Methods that may be sent twice without the backend acting twice (RFC 9110, section 9.2.2). */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE']);

export class Forwarder {
  #config: IngressConfig = EMPTY_CONFIG;
  #findBackend: FindBackend = backendFinder(EMPTY_CONFIG);
  readonly #agent: BackendAgent;
  #turn = 0;

  /** `guard` checks where backends lead to. */
  constructor(
    private readonly clock: Clock,
    guard: DialGuard,
  ) {
    this.#agent = new BackendAgent(guard, { keepAlive: true, maxFreeSockets: MAX_IDLE_CONNECTIONS_PER_BACKEND });
  }

  guardBy(guard: DialGuard): void {
    this.#agent.guardBy(guard);
  }

  /** Uses other rules from now on. */
  use(config: IngressConfig): void {
    this.#config = config;
    this.#findBackend = backendFinder(config);
  }

  /** `isLast`: whether a connection is to be closed with the response to the request that it has. */
  serve(server: Server | Http2SecureServer, { isLast }: { readonly isLast: () => boolean }): void {
    const withEvents = server as Server;
    withEvents.on('request', (incoming: Incoming, outgoing: Outgoing) => {
      this.#forward(incoming, { outgoing, isLast }, 1);
    });
    withEvents.on('upgrade', (incoming, socket, head) => this.#upgrade(incoming, socket, head));
  }

  close(): void {
    this.#agent.destroy();
  }

  /**
   * A connection that is refused, or an idle one that the backend closes at this moment, is no answer: the next endpoint is tried,
   * while nothing of the body was sent. Pods that end refuse connections a moment before the rules know.
   */
  #forward(incoming: Incoming, answering: Answering, attempt: number): void {
    const { outgoing, isLast } = answering;
    const target = this.#targetOf(incoming);
    if (typeof target === 'number') {
      fail(outgoing, target);
      return;
    }
    const isIdempotent = IDEMPOTENT.has(incoming.method ?? '') && !hasBody(incoming);
    const call = this.#call(incoming, target, headersOf(incoming, hasBody(incoming)));
    let isConnected = false;
    let isGone = false;
    call.on('response', (response) => {
      if (!hasValidHead(response)) {
        onGone();
        fail(outgoing, 502);
        return;
      }
      respond(outgoing, response, isLast());
      response.on('error', () => outgoing.destroy());
    });
    call.on('error', () => {
      if (isGone) return;
      const isUnanswered = !isConnected || (call.reusedSocket && isIdempotent);
      if (outgoing.headersSent) outgoing.destroy();
      else if (isUnanswered && attempt < MAX_ATTEMPTS) this.#forward(incoming, answering, attempt + 1);
      else fail(outgoing, 502);
    });
    refuseUpgrade(call);
    // The client is gone: the response has no receiver.
    const onGone = () => {
      isGone = true;
      call.destroy();
    };
    outgoing.on('close', onGone);
    incoming.on('error', onGone);
    call.on('close', () => {
      outgoing.off('close', onGone);
      incoming.off('error', onGone);
    });
    onConnected(call, () => {
      isConnected = true;
      // A backend may want to answer before the body has come.
      if (hasBody(incoming)) call.flushHeaders();
      incoming.pipe(call);
    });
  }

  #upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const target = this.#targetOf(incoming);
    if (typeof target === 'number') {
      socket.end(`HTTP/1.1 ${target} ${REASONS[target]}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
      return;
    }
    const { upgrade } = incoming.headers;
    const headers = { ...headersOf(incoming, false), connection: 'Upgrade', upgrade };
    const call = this.#call(incoming, target, headers);
    const relay = (response: IncomingMessage, other?: Duplex, first?: Buffer) => {
      const { statusCode, statusMessage, rawHeaders } = response;
      // The body of another answer has no chunks any more; it ends with the connection.
      const sent = other ? rawHeaders : [...responseHeaders(rawHeaders), 'Connection', 'close'];
      const lines = pairs(sent).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join('')}\r\n`);
      if (!other) {
        response.pipe(socket);
        return;
      }
      if (first?.length) socket.write(first);
      if (head.length) other.write(head);
      socket.pipe(other).pipe(socket);
      other.on('error', () => socket.destroy());
      other.on('close', () => socket.destroy());
      socket.on('close', () => other.destroy());
    };
    call.on('upgrade', relay);
    call.on('response', (response) => relay(response));
    call.on('error', () => socket.destroy());
    socket.on('close', () => call.destroy());
    call.end();
  }

  /** Returns the backend's next address, or the status of the response when there is none. */
  #targetOf(incoming: Incoming): BackendAddress | 404 | 503 {
    const [path = '/'] = (incoming.url ?? '/').split('?', 1);
    const key = this.#findBackend(hostOf(incoming), path);
    if (key === undefined) return 404;
    const addresses = this.#config.backends.get(key) ?? [];
    return addresses.length === 0 ? 503 : addresses[this.#turn++ % addresses.length]!;
  }

  #call(
    { method, url }: Incoming,
    { address, port, mayBeOwn }: BackendAddress,
    headers: ReturnType<typeof headersOf>,
  ): ClientRequest {
    const to = { host: address, port, mayBeOwn };
    const options: BackendRequestOptions = { ...to, method, path: url, headers, agent: this.#agent, setHost: false };
    const call = request(options);
    const timer = this.clock.timer(CONNECT_TIMEOUT_MS, () => call.destroy(new Error('no connection in time')));
    onConnected(call, () => timer.cancel());
    call.on('close', () => timer.cancel());
    return call;
  }
}

function onConnected(call: ClientRequest, then: () => void): void {
  call.on('socket', (socket) => {
    if (!socket.connecting) then();
    else socket.once('connect', then);
  });
}

/** Returns the host, which HTTP/2 has in a separate header. */
function hostOf({ headers }: Incoming): string {
  const { ':authority': authority, host } = headers as { ':authority'?: string; host?: string };
  return authority ?? host ?? '';
}

function headersOf(incoming: Incoming, withBody: boolean) {
  const { socket } = incoming;
  const client = {
    address: socket.remoteAddress?.replace(/^::ffff:/, '') ?? '',
    isTls: (socket as TLSSocket).encrypted === true,
    port: socket.localPort,
  };
  return forwardedHeaders(incoming.headers, { host: hostOf(incoming), hasBody: withBody }, client);
}

/** HTTP/2 has no length of a body that is streamed: a stream that is not at its end has one. */
function hasBody(incoming: Incoming): boolean {
  if (!(incoming instanceof IncomingMessage)) return !incoming.stream.endAfterHeaders;
  const { 'content-length': length, 'transfer-encoding': encoding } = incoming.headers;
  return encoding !== undefined || (length !== undefined && length !== '0');
}

/** Reports whether Node can send the status of a backend. */
function hasValidHead({ statusCode = 0, statusMessage = '' }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode <= MAX_STATUS && !CONTROL_CHARACTER.test(statusMessage);
}

function respond(outgoing: Outgoing, response: IncomingMessage, isLast: boolean): void {
  const { statusCode = 502, statusMessage = '', rawHeaders } = response;
  const ending = isLast ? ['Connection', 'close'] : [];
  if (isHttp1(outgoing)) outgoing.writeHead(statusCode, statusMessage, [...responseHeaders(rawHeaders), ...ending]);
  else outgoing.writeHead(statusCode, groupedHeaders(rawHeaders));
  response.pipe(outgoing);
}

const isHttp1 = (outgoing: Outgoing): outgoing is ServerResponse => !('stream' in outgoing);

const REASONS: Readonly<Record<number, string>> = {
  404: 'Not Found',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
};
const EXPLANATIONS: Readonly<Record<number, string>> = {
  404: 'no rule of an Ingress matches this host and path',
  502: 'the backend of this path did not respond',
  503: 'the backend of this path has no ready endpoints',
};

function fail(outgoing: Outgoing, status: number): void {
  const body = `${status} ${REASONS[status]}: ${EXPLANATIONS[status]}\n`;
  outgoing.statusCode = status;
  outgoing.setHeader('content-type', 'text/plain; charset=utf-8');
  outgoing.setHeader('content-length', body.length);
  outgoing.end(body);
}

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Limits } from '../limits.ts';
import type { Held } from '../listen/backlog-limiter.ts';
import { answeredEarly } from '../listen/malformed-request.ts';
import {
  CACHE_CONTROL,
  type EventBytes,
  type EventWriter,
  type Exchange,
  type ExtraHeaders,
  LARGE_REPLY,
  NO_HEADERS,
  type Peer,
} from './exchange.ts';
import { ExchangeBase } from './exchange-base.ts';
import { discardBody, readBody, sizeOf } from './read-body.ts';

export interface Http1Options {
  readonly limits: Pick<Limits, 'body'>;
  readonly outgoing: Held;
  readonly incoming: Held;
}

const SLASH = 47;
const SMALL_BODY = 16 * 1024;

/** Who takes this server for a proxy names it with every path. Whoever names another one is not meant for it. */
function pathOf(url: string, host = ''): string {
  const named = /^https?:\/\/([^/?#]*)/i.exec(url);
  return named && named[1]!.toLowerCase() === host.toLowerCase() ? url.slice(named[0].length) : url;
}

/** A request over HTTP/1.1. One that comes too slowly is ended by Node's own server. */
export class Http1Exchange extends ExchangeBase implements Exchange {
  #isLarge = false;

  constructor(
    protected readonly request: IncomingMessage,
    protected readonly response: ServerResponse,
    peer: Peer,
    private readonly options: Http1Options,
  ) {
    super(peer);
  }

  get method(): string {
    return this.request.method ?? '';
  }

  get url(): string {
    const { url = '', headers } = this.request;
    return url.charCodeAt(0) === SLASH ? url : pathOf(url, headers.host);
  }

  get headers(): IncomingHttpHeaders {
    return this.request.headers;
  }

  get isGone(): boolean {
    return this.response.destroyed;
  }

  get isUnsent(): boolean {
    return this.#isLarge && !this.response.writableFinished && !this.response.destroyed;
  }

  get code(): number {
    return this.response.headersSent ? this.response.statusCode : 0;
  }

  hasBody(): boolean {
    const { headers } = this.request;
    const length = headers['content-length'];
    return length === undefined ? headers['transfer-encoding'] !== undefined : length !== '0';
  }

  body(): Promise<Buffer> {
    const { request, response: reply } = this;
    const { limits, incoming } = this.options;
    const declared = request.headers['content-length'];
    const size = sizeOf(declared, limits.body);
    // A connection has one body at a time: a small one is less than what the connection itself takes.
    if (size > SMALL_BODY) incoming.add(size, request, request.socket);
    return readBody(request, declared, { limit: limits.body, reply });
  }

  reply(code: number, contentType: string, body: Buffer, extra: ExtraHeaders = NO_HEADERS): void {
    const { response } = this;
    if (response.headersSent || response.destroyed) return;
    const head = ['Cache-Control', CACHE_CONTROL, 'Content-Type', contentType, 'Content-Length', String(body.length)];
    if (this.standing.length > 0) head.push(...this.standing);
    if (extra.length > 0) head.push(...extra);
    this.#isLarge = body.length > LARGE_REPLY;
    response.writeHead(code, head);
    response.end(body);
    const { outgoing, limits } = this.options;
    if (!outgoing.hasLeft(response, this.request.socket)) outgoing.add(body.length, response, this.request.socket);
    if (!this.request.complete) answeredEarly(this.request);
    if (code >= 400 && this.hasBody()) discardBody(this.request, limits.body);
  }

  startWatch(extra: ExtraHeaders, gone: () => void): EventWriter | Promise<EventWriter> {
    const { response } = this;
    this.whenGone(gone);
    const head = ['Cache-Control', CACHE_CONTROL, 'Content-Type', 'application/json', ...this.allHeaders(extra)];
    response.writeHead(200, head);
    response.flushHeaders();
    this.#discardRest();
    return new ChunkedWatch(response);
  }

  startText(contentType: string, extra: ExtraHeaders): ServerResponse {
    const { response } = this;
    const head = ['Cache-Control', CACHE_CONTROL, 'Content-Type', contentType, ...this.allHeaders(extra)];
    response.writeHead(200, head);
    response.flushHeaders();
    this.#discardRest();
    return response;
  }

  whenGone(listener: () => void): void {
    if (this.response.destroyed) listener();
    else this.response.once('close', listener);
  }

  lastOne(): void {
    this.response.shouldKeepAlive = false;
  }

  /** A body that nobody reads would keep the socket from being read, and its client's leaving from being heard of. */
  #discardRest(): void {
    if (!this.request.complete) discardBody(this.request, this.options.limits.body);
  }

  abandon(): void {
    this.request.socket.destroy();
  }
}

/** Events as lines, those of one turn in one chunk. */
class ChunkedWatch implements EventWriter {
  constructor(private readonly response: ServerResponse) {}

  events(batch: EventBytes): void {
    const { response } = this;
    if (response.writableEnded) return;
    // Node would frame the chunk for every watcher anew, and encrypt three pieces in place of one.
    if (response.chunkedEncoding && response.socket && response.writableLength === response.socket.writableLength) {
      response.socket.write(chunkOf(batch));
    } else response.write(batch.json());
  }

  backlog(): number {
    return this.response.writableLength;
  }

  end(): void {
    this.response.end();
  }
}

const chunks = new WeakMap<EventBytes, Buffer>();

/** The events as one chunk of a reply, the same for all who watch. */
function chunkOf(batch: EventBytes): Buffer {
  let chunk = chunks.get(batch);
  if (!chunk) {
    const json = batch.json();
    chunk = Buffer.concat([Buffer.from(`${json.length.toString(16)}\r\n`), json, Buffer.from('\r\n')]);
    chunks.set(batch, chunk);
  }
  return chunk;
}

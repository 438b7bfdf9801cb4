import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { memoized } from '../../../../base/collections/memoized.ts';
import type { Clock } from '../../../../base/time/clock.ts';
import {
  CACHE_CONTROL,
  type EventBytes,
  type EventWriter,
  type Exchange,
  type HeaderList,
  LARGE_RESPONSE_BYTES,
  NO_HEADERS,
  type Peer,
  type WatchHead,
} from '../../exchange.ts';
import type { Deadlines } from '../deadlines.ts';
import type { Limits } from '../limits.ts';
import type { BacklogLimiter } from '../listen/backlog-limiter.ts';
import { noteAnsweredEarly } from '../listen/malformed-request.ts';
import { rawChunkSocket } from '../node-internals.ts';
import { closeInTime, ExchangeBase, timelyBody } from './exchange-base.ts';
import { discardBody, maxSizeOf, readBody } from './read-body.ts';
import { MAX_WHOLE_BYTES, SlicedOutput } from './sliced-output.ts';

export interface Http1Options {
  readonly limits: Pick<Limits, 'maxBodyBytes' | 'requestTimeoutMs'>;
  readonly clock: Clock;
  /** Deadlines for request bodies. */
  readonly bodies: Deadlines;
  readonly outgoing: BacklogLimiter;
  readonly incoming: BacklogLimiter;
}

const GONE = new Error('the client has gone');
const SLASH = 47;
const SMALL_BODY_BYTES = 16 * 1024;

/** Returns the path of a request target. Clients of a proxy send an absolute URL; only our own host is accepted. */
function pathOf(url: string, host = ''): string {
  const origin = /^https?:\/\/([^/?#]*)/i.exec(url);
  return origin && origin[1]!.toLowerCase() === host.toLowerCase() ? url.slice(origin[0].length) : url;
}

/** A request over HTTP/1. Node itself enforces the timeout of headers. */
export class Http1Exchange extends ExchangeBase implements Exchange {
  #isLarge = false;
  #isStreamed = false;

  constructor(
    protected readonly request: IncomingMessage,
    protected readonly response: ServerResponse,
    peer: Peer,
    protected readonly options: Http1Options,
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

  get isDisconnected(): boolean {
    return this.response.destroyed;
  }

  get hasUnsentResponse(): boolean {
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
    const { request, response } = this;
    const { limits, incoming } = this.options;
    const declared = request.headers['content-length'];
    const size = maxSizeOf(declared, limits.maxBodyBytes);
    // A connection has one body at a time; a small one takes less memory than the connection itself.
    if (size > SMALL_BODY_BYTES) incoming.add(size, request, request.socket);
    const reading = readBody(request, declared, { maxBytes: limits.maxBodyBytes, response });
    // The next request would begin after the rest of the body, which may never come.
    return timelyBody(reading, this.options.bodies, () => this.closeAfterResponse());
  }

  bodyStream(): Readable {
    const { request } = this;
    this.#isStreamed = true;
    streamedFrom.add(request.socket);
    request.once('close', () => streamedFrom.delete(request.socket));
    return request;
  }

  reply(code: number, contentType: string, body: Buffer, extra: HeaderList = NO_HEADERS): void {
    const { response } = this;
    if (response.headersSent || response.destroyed) return;
    const head = ['Cache-Control', CACHE_CONTROL, 'Content-Type', contentType, 'Content-Length', String(body.length)];
    for (const each of this.responseHeaders) head.push(each);
    for (const each of extra) head.push(each);
    this.#isLarge = body.length > LARGE_RESPONSE_BYTES;
    response.writeHead(code, head);
    if (body.length <= MAX_WHOLE_BYTES) response.end(body);
    else sendInSlices(response, body);
    const { outgoing, limits } = this.options;
    if (!outgoing.isSent(response, this.request.socket)) outgoing.addReply(body, response, this.request.socket);
    if (!this.request.complete) noteAnsweredEarly(this.request);
    if (code >= 400 && this.hasBody()) discardBody(this.request, limits.maxBodyBytes);
  }

  startWatch({ contentType, extra }: WatchHead, onClose: () => void): EventWriter | Promise<EventWriter> {
    const { response } = this;
    this.onClose(onClose);
    const head = ['Cache-Control', CACHE_CONTROL, 'Content-Type', contentType, ...this.allHeaders(extra)];
    response.writeHead(200, head);
    response.flushHeaders();
    this.#discardRest();
    return new ChunkedWatch(response, this.options);
  }

  startResponse(code: number, headers: HeaderList): ServerResponse {
    const { response } = this;
    response.writeHead(code, [...this.allHeaders(headers)]);
    response.flushHeaders();
    this.#discardRest();
    return response;
  }

  onClose(listener: () => void): void {
    if (this.response.destroyed) listener();
    else this.response.once('close', listener);
  }

  closeAfterResponse(): void {
    this.response.shouldKeepAlive = false;
  }

  /** Discards unread input: while a body is unread, the socket is not read, and a disconnect goes unnoticed. */
  #discardRest(): void {
    const { request, response, options } = this;
    if (request.complete) return;
    const discard = () => discardBody(request, options.limits.maxBodyBytes);
    if (this.#isStreamed) response.once('finish', discard);
    else discard();
  }

  abort(): void {
    this.request.socket.destroy();
  }
}

/** Connections with a streamed request body. */
const streamedFrom = new WeakSet<object>();

/** Reports whether a request on this connection has no timeout because its body is streamed. */
export function isStreaming(socket: object): boolean {
  return streamedFrom.has(socket);
}

function sendInSlices(response: ServerResponse, body: Buffer): void {
  const slices = new SlicedOutput((slice, isLast, written) => {
    if (response.destroyed) written(GONE);
    else if (isLast) response.end(slice);
    else response.write(slice, written);
  });
  slices.push(body);
}

/** Writes events as lines; a batch is one chunk, or several if it is large. */
class ChunkedWatch implements EventWriter {
  readonly #response: ServerResponse;
  readonly #options: Http1Options;
  readonly #large = new SlicedOutput((slice, _isLast, written) => {
    // Writing to it would be an unhandled error.
    if (this.#response.destroyed) written(GONE);
    else
      this.#response.write(slice, (error) => {
        written(error);
        this.#onProgress();
      });
  });
  #isEnded = false;
  #onProgress: () => void = () => undefined;

  constructor(response: ServerResponse, options: Http1Options) {
    this.#response = response;
    this.#options = options;
  }

  events(batch: EventBytes): void {
    const response = this.#response;
    if (this.#isEnded || response.destroyed) return;
    const json = batch.json();
    if (!this.#large.isEmpty || response.writableLength + json.length > MAX_WHOLE_BYTES) this.#large.push(json);
    else {
      // Node would frame the chunk again for every watcher, and TLS would encrypt three pieces instead of one.
      const socket = rawChunkSocket(response);
      if (socket) socket.write(chunkOf(batch), this.#onProgress);
      else response.write(json, this.#onProgress);
    }
  }

  backlog(): number {
    return this.#response.writableLength + this.#large.bytes;
  }

  onProgress(listener: () => void): void {
    this.#onProgress = listener;
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const response = this.#response;
    const { clock, limits } = this.#options;
    if (this.backlog() > 0) closeInTime(response, { clock, delayMs: limits.requestTimeoutMs });
    this.#large.whenEmpty(() => response.end());
  }
}

/** Encodes the events as one HTTP/1 chunk, shared by all watchers. */
const chunkOf = memoized((batch: EventBytes): Buffer => {
  const json = batch.json();
  return Buffer.concat([Buffer.from(`${json.length.toString(16)}\r\n`), json, Buffer.from('\r\n')]);
});

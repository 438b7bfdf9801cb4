import type { IncomingHttpHeaders } from 'node:http';
import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Readable } from 'node:stream';
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
import type { Limits } from '../limits.ts';
import { closeInTime, ExchangeBase, timelyBody } from './exchange-base.ts';
import type { Http1Options } from './http1.ts';
import { maxSizeOf, readBody } from './read-body.ts';

/** Size of the flow-control window that Node announces, which a client may fill on an unread stream. */
const STREAM_WINDOW_BYTES = 64 * 1024;

export interface Http2Options extends Omit<Http1Options, 'limits'> {
  readonly limits: Limits;
}

/** A request over HTTP/2, directly on its stream: Node's compatibility layer costs a third of the throughput. */
export class Http2Exchange extends ExchangeBase implements Exchange {
  #code = 0;
  #isLarge = false;
  #isStreamed = false;
  #onAnswered: (() => void) | undefined;

  constructor(
    private readonly stream: ServerHttp2Stream,
    readonly headers: IncomingHttpHeaders,
    peer: Peer,
    private readonly options: Http2Options,
  ) {
    super(peer);
    // A reset arrives as an error; callers wait for the close event that follows.
    stream.on('error', () => undefined);
  }

  get method(): string {
    return this.headers[':method'] as string;
  }

  get url(): string {
    return (this.headers[':path'] as string | undefined) ?? '';
  }

  /** A reset stream is closed at once, but destroyed only when the data received on it has been read. */
  get isDisconnected(): boolean {
    return this.stream.destroyed || this.stream.closed;
  }

  get hasUnsentResponse(): boolean {
    return this.#isLarge && !this.stream.writableFinished && !this.stream.destroyed;
  }

  get code(): number {
    return this.#code;
  }

  hasBody(): boolean {
    return !this.stream.endAfterHeaders;
  }

  /** Runs the listener once, when the response has begun or the stream has closed without one. */
  onAnswered(listener: () => void): void {
    this.#onAnswered = listener;
    this.onClose(() => this.#answered());
  }

  /** Marks the request as waiting. `onReset` runs when its client resets it. */
  wait(onReset: () => void): void {
    const { stream } = this;
    // A stream with unread data is not destroyed, and only this event signals its reset.
    stream.once('aborted', onReset);
    if (this.hasBody() && stream.session) this.options.incoming.add(STREAM_WINDOW_BYTES, stream, stream.session);
  }

  body(): Promise<Buffer> {
    const { bodies, limits, incoming } = this.options;
    const declared = this.headers['content-length'];
    if (this.stream.session) incoming.add(maxSizeOf(declared, limits.maxBodyBytes), this.stream, this.stream.session);
    const reading = readBody(this.stream, declared, { maxBytes: limits.maxBodyBytes });
    return timelyBody(reading, bodies, () => undefined);
  }

  bodyStream(): Readable {
    this.#isStreamed = true;
    return this.stream;
  }

  reply(code: number, contentType: string, body: Buffer, extra: HeaderList = NO_HEADERS): void {
    const { stream } = this;
    if (stream.headersSent || this.isDisconnected) return;
    this.#code = code;
    const endStream = this.method === 'HEAD';
    this.#isLarge = body.length > LARGE_RESPONSE_BYTES;
    const headers = headersOf(code, contentType, this.allHeaders(extra));
    headers['content-length'] = body.length;
    stream.respond(headers, { endStream });
    if (!endStream) stream.end(body);
    if (!endStream && stream.session) this.options.outgoing.addReply(body, stream, stream.session);
    this.#discardRest();
    this.#answered();
  }

  startWatch({ contentType, extra }: WatchHead, onClose: () => void): EventWriter {
    const { stream } = this;
    if (this.isDisconnected) onClose();
    else {
      stream.once('close', onClose);
      stream.respond(headersOf(200, contentType, this.allHeaders(extra)));
      this.#discardRest();
      this.#answered();
    }
    return new StreamWatch(stream, this.options);
  }

  startResponse(code: number, headers: HeaderList): ServerHttp2Stream {
    const { stream } = this;
    this.#code = code;
    if (!this.isDisconnected) {
      stream.respond(addHeaders({ ':status': code }, this.allHeaders(headers)), { endStream: this.method === 'HEAD' });
      this.#discardRest();
      this.#answered();
    }
    return stream;
  }

  onClose(listener: () => void): void {
    if (this.isDisconnected) listener();
    else this.stream.once('close', listener);
  }

  closeAfterResponse(): void {
    this.stream.session?.close();
  }

  abort(): void {
    this.stream.close(constants.NGHTTP2_CANCEL);
  }

  #answered(): void {
    const listener = this.#onAnswered;
    this.#onAnswered = undefined;
    listener?.();
  }

  /** Discards further input: unread, it would fill the connection's flow-control window. */
  #discardRest(): void {
    const { stream } = this;
    if (stream.endAfterHeaders || stream.readableEnded) return;
    if (!this.#isStreamed) stream.resume();
    stream.once('finish', () => stream.close(constants.NGHTTP2_NO_ERROR));
  }
}

function headersOf(code: number, contentType: string, extra: HeaderList): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    ':status': code,
    'cache-control': CACHE_CONTROL,
    'content-type': contentType,
  };
  return addHeaders(headers, extra);
}

/** Headers that are sent once for each value. Others are joined: Node throws for many repeated names. */
const REPEATED: ReadonlySet<string> = new Set(['set-cookie', 'warning']);

function addHeaders(headers: OutgoingHttpHeaders, extra: HeaderList): OutgoingHttpHeaders {
  for (let i = 0; i < extra.length; i += 2) {
    const name = extra[i]!.toLowerCase();
    const value = extra[i + 1]!;
    const before = Object.hasOwn(headers, name) ? headers[name] : undefined;
    if (before === undefined) headers[name] = value;
    else if (!REPEATED.has(name)) headers[name] = `${before}, ${value}`;
    else if (Array.isArray(before)) before.push(value);
    else headers[name] = [String(before), value];
  }
  return headers;
}

/** Writes events as lines; a batch is one write. */
class StreamWatch implements EventWriter {
  #onProgress: () => void = () => undefined;

  constructor(
    private readonly stream: ServerHttp2Stream,
    private readonly options: Http2Options,
  ) {}

  events(batch: EventBytes): void {
    if (!this.stream.writableEnded && !this.stream.destroyed) this.stream.write(batch.json(), this.#onProgress);
  }

  backlog(): number {
    return this.stream.writableLength;
  }

  onProgress(listener: () => void): void {
    this.#onProgress = listener;
  }

  end(): void {
    const { clock, limits } = this.options;
    if (this.backlog() > 0) closeInTime(this.stream, { clock, delayMs: limits.requestTimeoutMs });
    this.stream.end();
  }
}

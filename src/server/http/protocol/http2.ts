import type { IncomingHttpHeaders } from 'node:http';
import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Clock } from '../../../base/clock.ts';
import { HttpError } from '../errors.ts';
import type { Limits } from '../limits.ts';
import type { Held } from '../listen/backlog-limiter.ts';
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
import { readBody, sizeOf } from './read-body.ts';

export interface Http2Options {
  readonly limits: Limits;
  readonly clock: Clock;
  readonly outgoing: Held;
  readonly incoming: Held;
}

/** A request over HTTP/2, on the stream itself: the layer that looks like HTTP/1 costs a third of the speed. */
export class Http2Exchange extends ExchangeBase implements Exchange {
  #code = 0;
  #isLarge = false;

  constructor(
    private readonly stream: ServerHttp2Stream,
    readonly headers: IncomingHttpHeaders,
    peer: Peer,
    private readonly options: Http2Options,
  ) {
    super(peer);
    // Resets arrive as errors; whoever waits hears of the close.
    stream.on('error', () => undefined);
  }

  get method(): string {
    return this.headers[':method'] as string;
  }

  get url(): string {
    return (this.headers[':path'] as string | undefined) ?? '';
  }

  /** One that was reset is closed at once, and destroyed only when what it brought has been read. */
  get isGone(): boolean {
    return this.stream.destroyed || this.stream.closed;
  }

  get isUnsent(): boolean {
    return this.#isLarge && !this.stream.writableFinished && !this.stream.destroyed;
  }

  get code(): number {
    return this.#code;
  }

  hasBody(): boolean {
    return !this.stream.endAfterHeaders;
  }

  body(): Promise<Buffer> {
    const { clock, limits, incoming } = this.options;
    const declared = this.headers['content-length'];
    if (this.stream.session) incoming.add(sizeOf(declared, limits.body), this.stream, this.stream.session);
    return new Promise((resolve, reject) => {
      const late = () => reject(new HttpError(408, 'the body of the request did not arrive in time'));
      const timer = clock.timer(limits.bodyTimeout, late);
      const reading = readBody(this.stream, declared, { limit: limits.body });
      reading.then(resolve, reject).finally(() => timer.cancel());
    });
  }

  reply(code: number, contentType: string, body: Buffer, extra: ExtraHeaders = NO_HEADERS): void {
    const { stream } = this;
    if (stream.headersSent || this.isGone) return;
    this.#code = code;
    const endStream = this.method === 'HEAD';
    this.#isLarge = body.length > LARGE_REPLY;
    const headers = headersOf(code, contentType, this.allHeaders(extra));
    headers['content-length'] = body.length;
    stream.respond(headers, { endStream });
    if (!endStream) stream.end(body);
    if (!endStream && stream.session) this.options.outgoing.add(body.length, stream, stream.session);
    this.#discardRest();
  }

  startWatch(extra: ExtraHeaders, gone: () => void): EventWriter {
    const { stream } = this;
    if (this.isGone) gone();
    else {
      stream.once('close', gone);
      stream.respond(headersOf(200, 'application/json', this.allHeaders(extra)));
      this.#discardRest();
    }
    return new StreamWatch(stream);
  }

  startText(contentType: string, extra: ExtraHeaders): ServerHttp2Stream {
    const { stream } = this;
    this.#code = 200;
    if (!this.isGone) {
      stream.respond(headersOf(200, contentType, this.allHeaders(extra)));
      this.#discardRest();
    }
    return stream;
  }

  whenGone(listener: () => void): void {
    if (this.isGone) listener();
    else this.stream.once('close', listener);
  }

  lastOne(): void {
    this.stream.session?.close();
  }

  abandon(): void {
    this.stream.close(constants.NGHTTP2_CANCEL);
  }

  /** What the client still sends is of no interest: without this, it would fill the connection's window. */
  #discardRest(): void {
    const { stream } = this;
    if (stream.endAfterHeaders || stream.readableEnded) return;
    stream.resume();
    stream.once('finish', () => stream.close(constants.NGHTTP2_NO_ERROR));
  }
}

function headersOf(code: number, contentType: string, extra: ExtraHeaders): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    ':status': code,
    'cache-control': CACHE_CONTROL,
    'content-type': contentType,
  };
  for (let i = 0; i < extra.length; i += 2) {
    const name = extra[i]!.toLowerCase();
    const before = headers[name];
    headers[name] = before === undefined ? extra[i + 1]! : [before, extra[i + 1]!].flat().map(String);
  }
  return headers;
}

/** Events as lines, those of one turn in one write. */
class StreamWatch implements EventWriter {
  constructor(private readonly stream: ServerHttp2Stream) {}

  events(batch: EventBytes): void {
    if (!this.stream.writableEnded && !this.stream.destroyed) this.stream.write(batch.json());
  }

  backlog(): number {
    return this.stream.writableLength;
  }

  end(): void {
    this.stream.end();
  }
}

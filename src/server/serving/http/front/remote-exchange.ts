/** An exchange whose client is connected to the front thread. */
import type { IncomingHttpHeaders } from 'node:http';
import { type Duplex, Readable, Writable } from 'node:stream';
import { ApiError, badRequest } from '../../../../api/errors.ts';
import { isMovable } from '../../../../base/bytes/shared-buffer.ts';
import {
  type EventBytes,
  type EventWriter,
  type Exchange,
  type HeaderList,
  LARGE_RESPONSE_BYTES,
  NO_HEADERS,
  type Peer,
  type WatchFraming,
  type WatchHead,
} from '../../exchange.ts';
import { Disconnected, HttpError } from '../errors.ts';
import { ExchangeBase } from '../protocol/exchange-base.ts';
import type { BatchedPort } from './batched-port.ts';
import { type ApiMessage, type FrontMessage, MAX_IN_FLIGHT_BYTES, type RequestHead } from './messages.ts';
import { RemoteSocket } from './remote-socket.ts';

/** The functions of the connection to the front thread that exchanges use. */
export interface FrontConnection {
  readonly port: BatchedPort<ApiMessage, FrontMessage>;
  /** Sends events of a watch; the same events for several watches are sent once. */
  events(id: number, batch: EventBytes): void;
  /** Ends the exchange: no more messages about it are sent or expected. */
  closed(id: number): void;
}

interface Settling<T> {
  resolve(value: T): void;
  reject(error: Error): void;
}

const NO_BYTES = Buffer.alloc(0);
const SWITCHING_PROTOCOLS = 101;

export class RemoteExchange extends ExchangeBase implements Exchange {
  code = 0;
  isDisconnected = false;
  hasUnsentResponse = false;
  readonly id: number;
  readonly #head: RequestHead;
  readonly #front: FrontConnection;
  #body: Buffer | Error | undefined;
  #reading: Settling<Buffer> | undefined;
  #starting: Settling<EventWriter> | undefined;
  /** Bytes of a streamed response: written here, and sent to the client by the front thread. */
  #written = 0;
  #sent = 0;
  #onSent: (() => void) | undefined;
  /** The connection of an upgraded request, or its body. */
  #incoming: RemoteSocket | undefined;
  #onProgress: (() => void) | undefined;
  #onClose: (() => void)[] | undefined;
  /** True when the client has disconnected or has its whole response: no more messages come from the front thread. */
  #isClosed = false;

  constructor(
    { id, head, body }: { readonly id: number; readonly head: RequestHead; readonly body: Buffer | undefined },
    peer: Peer,
    front: FrontConnection,
  ) {
    super(peer);
    this.id = id;
    this.#head = head;
    this.#body = body;
    this.#front = front;
  }

  get method(): string {
    return this.#head.method;
  }

  get url(): string {
    return this.#head.url;
  }

  get headers(): IncomingHttpHeaders {
    return this.#head.headers;
  }

  override get token(): string | undefined {
    return this.#head.token;
  }

  override get watchFraming(): WatchFraming {
    return this.#head.watchFraming;
  }

  hasBody(): boolean {
    return this.#head.body !== 'none';
  }

  body(): Promise<Buffer> {
    if (this.#body instanceof Error) return Promise.reject(this.#body);
    if (this.#body) return Promise.resolve(this.#body);
    if (this.#isClosed) return Promise.reject(new Disconnected('the client disconnected before its request was read'));
    if (this.#head.body === 'none') return Promise.resolve(NO_BYTES);
    this.#send(['read-body', this.id]);
    return new Promise((resolve, reject) => {
      this.#reading = { resolve, reject };
    });
  }

  bodyStream(): Readable {
    const known = this.#body ?? (this.#head.body === 'none' ? NO_BYTES : undefined);
    if (known instanceof Error) return failedStream(known);
    if (known) return Readable.from(known.length > 0 ? [known] : []);
    if (this.#isClosed) return failedStream(new Disconnected('the client disconnected before its request was read'));
    const body = new RemoteSocket({
      reportConsumed: (total) => this.#send(['consumed', this.id, total]),
      send: (_buffers, done) => done(),
      sendEnd: () => undefined,
      abort: () => undefined,
    });
    this.#incoming = body;
    this.onClose(() => body.destroy());
    this.#send(['stream-body', this.id]);
    return body;
  }

  override room(): Promise<void> | undefined {
    return this.#front.port.room();
  }

  reply(code: number, contentType: string, body: Buffer, extra: HeaderList = NO_HEADERS): void {
    if (this.code !== 0 || this.isDisconnected) return;
    this.code = code;
    // A large response keeps the exchange until its deadline, but no longer needs the request's body.
    this.#body = undefined;
    this.hasUnsentResponse = body.length > LARGE_RESPONSE_BYTES;
    this.#front.port.send(['reply', this.id, code, contentType, this.allHeaders(extra), body.length], body);
    if (!this.hasUnsentResponse) this.#close();
  }

  startWatch({ contentType, extra }: WatchHead, onClose: () => void): EventWriter | Promise<EventWriter> {
    const isFramed = this.watchFraming === 'frames';
    this.code = isFramed ? SWITCHING_PROTOCOLS : 200;
    this.onClose(onClose);
    this.#send(['watch', this.id, contentType, this.allHeaders(extra)]);
    if (!isFramed) return this.#watch();
    if (this.isDisconnected) return Promise.reject(new Disconnected('the WebSocket could not be opened'));
    return new Promise((resolve, reject) => {
      this.#starting = { resolve, reject };
    });
  }

  startResponse(code: number, headers: HeaderList): Writable {
    this.code = code;
    const text = new Writable({
      write: (chunk: Buffer, _encoding, done) => this.#sendChunks([chunk], () => done()),
      final: (done) => {
        this.#send(['end', this.id]);
        done();
      },
      destroy: (error, done) => {
        // A response that cannot be completed ends with its connection, or the client would wait for the rest.
        if (!text.writableFinished && !this.#isClosed) this.abort();
        done(error);
      },
    });
    this.onClose(() => text.destroy());
    this.#send(['response', this.id, code, this.allHeaders(headers)]);
    return text;
  }

  override upgrade(headers: HeaderList): Duplex {
    // The request for an upgrade is checked here: the front thread could only drop the client.
    if (this.#head.headers.upgrade === undefined) return super.upgrade(headers);
    this.code = SWITCHING_PROTOCOLS;
    const socket = new RemoteSocket({
      send: (buffers, done) => this.#sendChunks(buffers, done),
      sendEnd: () => this.#send(['end', this.id]),
      reportConsumed: (total) => this.#send(['consumed', this.id, total]),
      abort: () => this.abort(),
    });
    this.#incoming = socket;
    this.onClose(() => socket.destroy());
    this.#send(['upgrade', this.id, this.allHeaders(headers)]);
    return socket;
  }

  onClose(listener: () => void): void {
    if (this.#isClosed) listener();
    else if (this.#onClose) this.#onClose.push(listener);
    else this.#onClose = [listener];
  }

  closeAfterResponse(): void {
    this.#send(['close-after-response', this.id]);
  }

  abort(): void {
    this.#send(['abort', this.id]);
  }

  handle(message: FrontMessage, body: Buffer | undefined): void {
    switch (message[0]) {
      case 'body':
        this.#body = body;
        this.#reading?.resolve(body!);
        // The promise would keep the body alive.
        this.#reading = undefined;
        break;
      case 'body-failed':
        this.#body = bodyError(message[2], message[3]);
        this.#reading?.reject(this.#body);
        break;
      case 'watch-started':
        this.#starting?.resolve(this.#watch());
        this.#starting = undefined;
        break;
      case 'sent':
        this.#sent = message[2];
        this.#onProgress?.();
        if (this.#written - this.#sent < MAX_IN_FLIGHT_BYTES) this.#continueWriting();
        break;
      case 'data':
        this.#incoming?.receive(body!);
        break;
      case 'data-end':
        this.#incoming?.receiveEnd();
        break;
    }
  }

  /** The client has disconnected or has its whole response. */
  disconnected(): void {
    this.isDisconnected = true;
    this.hasUnsentResponse = false;
    this.#close();
    this.#continueWriting();
  }

  /** Rejects everything that still waits for the client, even if it got its response before its body arrived. */
  #close(): void {
    this.#isClosed = true;
    this.#front.closed(this.id);
    this.#reading?.reject(new Disconnected('the client disconnected before its request was complete'));
    this.#starting?.reject(new Disconnected('the WebSocket could not be opened'));
    if (!this.#onClose) return;
    for (const listener of this.#onClose) listener();
    this.#onClose = undefined;
  }

  /** Calls back when more may be sent. */
  #sendChunks(chunks: readonly Buffer[], done: () => void): void {
    if (this.isDisconnected) {
      done();
      return;
    }
    for (const chunk of joinedHeads(chunks)) {
      this.#written += chunk.length;
      this.#front.port.send(['chunk', this.id, chunk.length], chunk);
    }
    if (this.#written - this.#sent < MAX_IN_FLIGHT_BYTES) done();
    else this.#onSent = done;
  }

  #continueWriting(): void {
    const onSent = this.#onSent;
    this.#onSent = undefined;
    onSent?.();
  }

  #watch(): EventWriter {
    return {
      events: (batch) => {
        if (this.isDisconnected) return;
        this.#written += batch.json().length;
        this.#front.events(this.id, batch);
      },
      backlog: () => this.#written - this.#sent,
      onProgress: (listener) => {
        this.#onProgress = listener;
      },
      end: () => this.#send(['end', this.id]),
    };
  }

  /** Sends nothing once the client has disconnected. */
  #send(message: ApiMessage): void {
    if (!this.isDisconnected) this.#front.port.send(message);
  }
}

/** Joins buffers between those that are transferred to the other thread, which stay unchanged. */
function joinedHeads(chunks: readonly Buffer[]): readonly Buffer[] {
  if (chunks.length === 1) return chunks;
  const joined: Buffer[] = [];
  let small: Buffer[] = [];
  const flush = () => {
    if (small.length > 0) joined.push(small.length === 1 ? small[0]! : Buffer.concat(small));
    small = [];
  };
  for (const chunk of chunks) {
    if (!isMovable(chunk)) small.push(chunk);
    else {
      flush();
      joined.push(chunk);
    }
  }
  flush();
  return joined;
}

function failedStream(error: Error): Readable {
  const stream = new Readable({ read: () => undefined });
  stream.on('error', () => undefined);
  return stream.destroy(error);
}

function bodyError(code: number, message: string): Error {
  switch (code) {
    case 0:
      return new Disconnected(message);
    case 408:
      return new HttpError(code, message);
    case 413:
      return new ApiError('RequestEntityTooLarge', message);
    default:
      return badRequest(message);
  }
}

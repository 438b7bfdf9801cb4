import type { Socket } from 'node:net';
import { ShortLivedMap } from '../../base/collections/short-lived-map.ts';
import { connectionProblem } from '../../base/sockets/connection-problem.ts';
import type { Clock, Timer } from '../../base/time/clock.ts';
import {
  DEFAULT_FRAME_SIZE,
  DEFAULT_WINDOW,
  ErrorCode,
  Flag,
  FrameSplitter,
  FrameType,
  frame,
  HEAD,
  Http2Error,
  LARGEST_FRAME,
  LARGEST_WINDOW,
  PREFACE,
  readSettings,
  Setting,
  STREAM_AT,
  settingsPayload,
  uint32,
  unpadded,
} from './frames.ts';
import { HeaderDecoder, type Headers } from './hpack.ts';
import { type Body, Outgoing } from './outgoing.ts';
import { GrpcError, GrpcStatus, statusOfReset } from './status.ts';

/** Receives the data of a stream. After `last` or `failed` there are no more calls. */
export interface StreamHandler {
  headers(headers: Headers, last: boolean): void;
  data(payload: Buffer, last: boolean): void;
  /** Called when the peer reset the stream, or the connection ended. */
  failed(error: GrpcError): void;
}

export interface SessionOptions {
  readonly clock: Clock;
  /** The last stream id. */
  readonly lastStream?: number;
}

/** A stream, as the caller sees it. */
export interface Stream {
  send(bytes: Buffer, last: boolean): void;
  /** Cancels the stream. The handler is not called afterwards. */
  cancel(): void;
}

/** Receive windows: for one stream, and for all together. */
const STREAM_WINDOW = 16 * 2 ** 20;
const SESSION_WINDOW = 2 * STREAM_WINDOW;

/** Limit for a header block, frame heads included: a peer could send empty frames without end. */
const LONGEST_HEADERS = 2 ** 18;

/** Limit for unsent answers to pings and settings: the peer may not read them. */
const MOST_UNREAD_ANSWERS = 1_000;

const SILENCE_MILLISECONDS = 30_000;
/** Minimum time between pings, and the default time for the answer. */
const PING_MILLISECONDS = 10_000;
const PING_BYTES = 8;

/** The client side of an HTTP/2 connection. */
export class Session {
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #lastStream: number;
  readonly #outgoing: Outgoing;
  readonly #splitter = new FrameSplitter();
  readonly #decoder = new HeaderDecoder();
  readonly #streams = new ShortLivedMap<number, OpenStream>();
  /** Streams waiting because of the peer's limit of concurrent streams. */
  readonly #queue = new Set<OpenStream>();
  /** Resolves when the peer has sent its settings; rejects with GrpcError when the connection ends before. */
  readonly ready: Promise<void>;
  #settle: { readonly resolve: () => void; readonly reject: (error: GrpcError) => void } | undefined;
  #accepts = true;
  #closed = false;
  #nextStream = 1;
  #mostStreams = Number.POSITIVE_INFINITY;
  #initialWindow = DEFAULT_WINDOW;
  /** Received bytes that were not returned to the window yet. */
  #taken = 0;
  /** Incomplete headers. */
  #partial: { readonly stream: number; readonly flags: number; readonly parts: Buffer[]; bytes: number } | undefined;
  #unreadAnswers = 0;
  #heard = false;
  #silence: Timer;
  #ping: Timer | undefined;
  #pingedAt = Number.NEGATIVE_INFINITY;

  /** `socket` must be connected. */
  constructor(socket: Socket, { clock, lastStream = LARGEST_WINDOW }: SessionOptions) {
    this.#socket = socket;
    this.#clock = clock;
    this.#lastStream = lastStream;
    this.#outgoing = new Outgoing(socket);
    this.ready = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.#silence = this.#listen();
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('error', (error) => this.#end(unavailable(`the connection failed: ${connectionProblem(error)}`, error)));
    socket.on('close', () => this.#end(unavailable('the connection was closed by the other side')));
    this.#greet();
  }

  /** True while it accepts new streams. */
  get isOpen(): boolean {
    return this.#accepts;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Opens a stream. `headers` is a frame without stream id. Fails at once when no new streams are accepted. */
  open(headers: Buffer, handler: StreamHandler): Stream {
    const stream = new OpenStream(this, headers, handler);
    if (!this.#accepts) queueMicrotask(() => handler.failed(unavailable('the connection is over')));
    else if (this.#streams.size < this.#mostStreams) this.#start(stream);
    else this.#queue.add(stream);
    return stream;
  }

  send(stream: OpenStream): void {
    if (stream.id > 0) this.#outgoing.send(stream);
  }

  /** Drops a stream, and resets it unless the peer has ended it. */
  drop(stream: OpenStream, code: number): void {
    if (this.#queue.delete(stream) || !this.#streams.delete(stream.id)) return;
    this.#outgoing.drop(stream);
    this.#control({ type: FrameType.RST_STREAM, stream: stream.id }, uint32(code));
    this.#next();
  }

  /** Pings the peer, unless that was done lately, and ends the connection when there is no answer in time. */
  probe(answerMilliseconds = PING_MILLISECONDS): void {
    const now = this.#clock.now();
    if (this.#closed || this.#ping || now - this.#pingedAt < PING_MILLISECONDS) return;
    this.#pingedAt = now;
    this.#control({ type: FrameType.PING }, Buffer.alloc(PING_BYTES));
    this.#ping = this.#clock.timer(answerMilliseconds, () => this.#end(unavailable('the other side does not answer')));
  }

  /** Accepts no new streams, and closes after the last one. */
  retire(): void {
    this.#accepts = false;
    if (this.#streams.size > 0 || this.#queue.size > 0 || this.#closed) return;
    this.#outgoing.flush();
    this.#end(unavailable('the connection is over'));
  }

  close(): void {
    this.#end(new GrpcError(GrpcStatus.CANCELLED, 'the connection was closed'));
  }

  #greet(): void {
    const settings = settingsPayload([
      [Setting.HEADER_TABLE_SIZE, 0],
      [Setting.ENABLE_PUSH, 0],
      [Setting.INITIAL_WINDOW_SIZE, STREAM_WINDOW],
    ]);
    this.#outgoing.write(PREFACE);
    this.#control({ type: FrameType.SETTINGS }, settings);
    this.#control({ type: FrameType.WINDOW_UPDATE }, uint32(SESSION_WINDOW - DEFAULT_WINDOW));
    this.#outgoing.flush();
  }

  #control(head: { readonly type: number; readonly flags?: number; readonly stream?: number }, payload: Buffer): void {
    this.#outgoing.write(frame(head, payload));
  }

  #listen(): Timer {
    return this.#clock.timer(SILENCE_MILLISECONDS, () => {
      // Without streams nobody needs an answer, and some servers treat such pings as an attack.
      if (!this.#heard && this.#streams.size > 0) this.probe();
      this.#heard = false;
      this.#silence = this.#listen();
    });
  }

  #start(stream: OpenStream): void {
    stream.id = this.#nextStream;
    stream.window = this.#initialWindow;
    this.#nextStream += 2;
    this.#streams.set(stream.id, stream);
    const head = Buffer.from(stream.head);
    head.writeUInt32BE(stream.id, STREAM_AT);
    this.#outgoing.write(head);
    this.#outgoing.send(stream);
    if (this.#nextStream > this.#lastStream) this.#goAway(stream.id);
  }

  /** Opens the next stream after one has ended, or closes a retired connection. */
  #next(): void {
    for (const stream of this.#queue) {
      if (this.#streams.size >= this.#mostStreams) return;
      this.#queue.delete(stream);
      this.#start(stream);
    }
    if (!this.#accepts) this.retire();
  }

  #read(chunk: Buffer): void {
    this.#heard = true;
    try {
      this.#splitter.push(chunk, this);
    } catch (error) {
      const code = error instanceof Http2Error ? error.code : ErrorCode.INTERNAL_ERROR;
      this.#control({ type: FrameType.GOAWAY }, Buffer.concat([uint32(0), uint32(code)]));
      this.#outgoing.flush();
      this.#end(unavailable(`the connection failed: ${(error as Error).message}`, error));
    }
  }

  frame(type: number, flags: number, id: number, payload: Buffer): void {
    if (this.#closed) return;
    if (this.#settle && type !== FrameType.SETTINGS) throw broken('the other side does not speak HTTP/2');
    if (this.#partial && type !== FrameType.CONTINUATION) throw broken('headers were interrupted');
    switch (type) {
      case FrameType.DATA:
        this.#data(id, flags, payload);
        break;
      case FrameType.HEADERS:
        this.#partial = { stream: id, flags, parts: [], bytes: 0 };
        this.#headers(flags, unpadded(payload, flags));
        break;
      case FrameType.CONTINUATION:
        if (this.#partial?.stream !== id) throw broken('headers go on that have not begun');
        this.#headers(flags, payload);
        break;
      case FrameType.RST_STREAM:
        this.#reset(id, number(payload));
        break;
      case FrameType.SETTINGS:
        this.#settings(flags, payload);
        break;
      case FrameType.PUSH_PROMISE:
        throw broken('a stream was pushed');
      case FrameType.PING:
        this.#pong(flags, payload);
        break;
      case FrameType.GOAWAY:
        this.#goAway(number(payload) & LARGEST_WINDOW);
        break;
      case FrameType.WINDOW_UPDATE:
        this.#widen(id, number(payload) & LARGEST_WINDOW);
        break;
      // Frames of other types must be ignored.
    }
  }

  #data(id: number, flags: number, payload: Buffer): void {
    this.#taken += payload.length;
    if (this.#taken > SESSION_WINDOW / 2) {
      this.#control({ type: FrameType.WINDOW_UPDATE }, uint32(this.#taken));
      this.#taken = 0;
    }
    const stream = this.#streams.get(id);
    if (!stream) return;
    const last = (flags & Flag.END_STREAM) !== 0;
    stream.taken += payload.length;
    if (last) {
      this.#over(stream);
    } else if (stream.taken > STREAM_WINDOW / 2) {
      this.#control({ type: FrameType.WINDOW_UPDATE, stream: id }, uint32(stream.taken));
      stream.taken = 0;
    }
    stream.handler.data(unpadded(payload, flags & ~Flag.PRIORITY), last);
  }

  #headers(flags: number, part: Buffer): void {
    const { stream: id, flags: first, parts } = this.#partial!;
    parts.push(part);
    this.#partial!.bytes += HEAD + part.length;
    if (this.#partial!.bytes > LONGEST_HEADERS) {
      throw new Http2Error(ErrorCode.ENHANCE_YOUR_CALM, 'headers are too long');
    }
    if (!(flags & Flag.END_HEADERS)) return;
    this.#partial = undefined;
    const headers = this.#decoder.decode(parts.length === 1 ? parts[0]! : Buffer.concat(parts));
    const stream = this.#streams.get(id);
    if (!stream) return;
    const last = (first & Flag.END_STREAM) !== 0;
    if (last) this.#over(stream);
    stream.handler.headers(headers, last);
  }

  /** Handles the end of a stream by the peer. */
  #over(stream: OpenStream): void {
    if (stream.isComplete && stream.waiting.length === 0) {
      this.#streams.delete(stream.id);
      this.#next();
    } else {
      this.drop(stream, ErrorCode.CANCEL);
    }
  }

  #reset(id: number, code: number): void {
    const stream = this.#streams.get(id);
    if (!stream) return;
    this.#streams.delete(id);
    this.#outgoing.drop(stream);
    this.#next();
    stream.handler.failed(new GrpcError(statusOfReset(code), `the stream was broken off with code ${code}`));
  }

  #settings(flags: number, payload: Buffer): void {
    if (flags & Flag.ACK) return;
    for (const [setting, value] of readSettings(payload)) this.#set(setting, value);
    this.#answer({ type: FrameType.SETTINGS, flags: Flag.ACK }, Buffer.alloc(0));
    this.#outgoing.resume();
    this.#next();
    this.#settle?.resolve();
    this.#settle = undefined;
  }

  #set(setting: number, value: number): void {
    switch (setting) {
      case Setting.MAX_CONCURRENT_STREAMS:
        this.#mostStreams = value;
        return;
      case Setting.INITIAL_WINDOW_SIZE:
        if (value > LARGEST_WINDOW) throw new Http2Error(ErrorCode.FLOW_CONTROL_ERROR, 'a window is too large');
        // The windows of open streams change by the difference, and may become negative.
        for (const stream of this.#streams.values()) stream.window += value - this.#initialWindow;
        this.#initialWindow = value;
        return;
      case Setting.MAX_FRAME_SIZE:
        if (value < DEFAULT_FRAME_SIZE || value > LARGEST_FRAME) throw broken('a frame size is not allowed');
        this.#outgoing.frameSize = value;
        return;
      // Other settings are hints, or do not concern clients.
    }
  }

  #pong(flags: number, payload: Buffer): void {
    if (payload.length !== PING_BYTES) throw new Http2Error(ErrorCode.FRAME_SIZE_ERROR, 'a ping has another length');
    if (flags & Flag.ACK) {
      this.#ping?.cancel();
      this.#ping = undefined;
    } else {
      this.#answer({ type: FrameType.PING, flags: Flag.ACK }, payload);
    }
  }

  /** Sends an answer that the peer caused; a peer that causes many and reads none is disconnected. */
  #answer(head: { readonly type: number; readonly flags: number }, payload: Buffer): void {
    this.#unreadAnswers = this.#socket.writableNeedDrain ? this.#unreadAnswers + 1 : 0;
    if (this.#unreadAnswers > MOST_UNREAD_ANSWERS) {
      throw new Http2Error(ErrorCode.ENHANCE_YOUR_CALM, 'the other side does not read');
    }
    this.#control(head, payload);
  }

  /** Handles GOAWAY: streams after the last one that the peer has processed can be retried. */
  #goAway(last: number): void {
    this.#accepts = false;
    const error = unavailable('the other side is going away');
    for (const stream of [...this.#streams.values(), ...this.#queue]) {
      if (stream.id > 0 && stream.id <= last) continue;
      this.#streams.delete(stream.id);
      this.#queue.delete(stream);
      this.#outgoing.drop(stream);
      stream.handler.failed(error);
    }
    this.retire();
  }

  #widen(id: number, increment: number): void {
    if (id === 0) {
      this.#outgoing.window += increment;
      this.#outgoing.resume();
      return;
    }
    const stream = this.#streams.get(id);
    if (!stream) return;
    stream.window += increment;
    this.#outgoing.send(stream);
  }

  #end(error: GrpcError): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#accepts = false;
    this.#silence.cancel();
    this.#ping?.cancel();
    this.#socket.destroy();
    this.#settle?.reject(error);
    this.#settle = undefined;
    const streams = [...this.#streams.values(), ...this.#queue];
    this.#streams.clear();
    this.#queue.clear();
    for (const stream of streams) stream.handler.failed(error);
  }
}

/** A stream that is open, or waits to be opened. */
class OpenStream implements Stream, Body {
  id = 0;
  window = 0;
  taken = 0;
  readonly waiting: Buffer[] = [];
  isComplete = false;

  constructor(
    readonly session: Session,
    readonly head: Buffer,
    readonly handler: StreamHandler,
  ) {}

  send(bytes: Buffer, last: boolean): void {
    this.waiting.push(bytes);
    this.isComplete = last;
    this.session.send(this);
  }

  cancel(): void {
    this.session.drop(this, ErrorCode.CANCEL);
  }
}

function number(payload: Buffer): number {
  if (payload.length < 4) throw new Http2Error(ErrorCode.FRAME_SIZE_ERROR, 'a frame is cut off');
  return payload.readUInt32BE(0);
}

function broken(message: string): Http2Error {
  return new Http2Error(ErrorCode.PROTOCOL_ERROR, message);
}

function unavailable(message: string, cause?: unknown): GrpcError {
  return new GrpcError(GrpcStatus.UNAVAILABLE, message, { cause });
}

import type { Duplex } from 'node:stream';
import { eachChunk, eachInTurn } from '../../base/bytes/each-chunk.ts';
import { SpdyError } from './errors.ts';
import { type ControlFrame, type DataPiece, FrameParser } from './frame-parser.ts';
import {
  dataHead,
  Flag,
  FrameType,
  GoAwayCode,
  goAway,
  INITIAL_WINDOW_SETTING,
  initialWindow,
  MAX_ID,
  ping,
  ResetCode,
  rstStream,
  synReply,
  synStream,
  windowUpdate,
} from './frames.ts';
import { HeaderInflater } from './header-inflater.ts';
import { decodeHeaders, encodeHeaders, type SpdyHeaders } from './headers.ts';
import { mergedData } from './merged-data.ts';
import { MAX_BUFFERED_BYTES, SpdyStream, type StreamHost } from './stream.ts';

export interface SpdySessionOptions {
  readonly role: 'client' | 'server';
  /** Called for each stream that the peer opens; it must `accept` or `reset` it. When absent, all are refused. */
  readonly onStream?: (stream: SpdyStream) => void;
  /** Announces a window, and expects the peer to use windows. Kubernetes' own peers do not. */
  readonly announcesWindow?: boolean;
  /** Limit for the open streams of the peer. */
  readonly maxStreams?: number;
}

const DEFAULT_WINDOW_BYTES = 64 * 1024;
const MAX_DATA_FRAME_BYTES = 64 * 1024;
const DEFAULT_MAX_STREAMS = 1000;
/** Bytes that all streams together buffer for slow readers. At the limit, reading pauses until some were consumed. */
export const MAX_SESSION_BUFFERED_BYTES = 4 * 1024 * 1024;
/** Increment by which windows are extended. */
const ACKNOWLEDGED_BYTES = 16 * 1024;
/** Limit for unsent answers to pings and refused streams: the peer may not read them. */
const MAX_UNREAD_ANSWERS_BYTES = 64 * 1024;

interface WaitingWrite {
  readonly stream: SpdyStream;
  chunks: Buffer[];
  readonly done: (error?: Error) => void;
}

/** An end of a SPDY/3.1 connection. It owns the socket. */
export class SpdySession implements StreamHost {
  /** Resolves when the connection is closed, with the error that closed it. */
  readonly closed: Promise<Error | undefined>;
  readonly #streams = new Map<number, SpdyStream>();
  readonly #inflater = new HeaderInflater();
  readonly #pings = new Map<number, () => void>();
  /** Writes that wait for the socket, and those that wait for the peer's window. */
  #waitingForDrain: (() => void)[] = [];
  #waitingForWindow: WaitingWrite[] = [];
  #hasSentHeaders = false;
  #nextStream: number;
  #nextPing: number;
  #lastPeerStream = 0;
  #peerStreams = 0;
  /** True when the peer uses flow-control windows. */
  #hasPeerWindows: boolean;
  #initialSendWindow = DEFAULT_WINDOW_BYTES;
  #sendWindow = DEFAULT_WINDOW_BYTES;
  #unacknowledgedBytes = 0;
  #unreadAnswerBytes = 0;
  /** Bytes received and not read, of all streams that are not closed. */
  #bufferedBytes = 0;
  #onRoom: (() => void) | undefined;
  #isClosing = false;

  constructor(
    private readonly socket: Duplex,
    private readonly options: SpdySessionOptions,
  ) {
    this.#nextStream = options.role === 'client' ? 1 : 2;
    this.#nextPing = this.#nextStream;
    this.#hasPeerWindows = options.announcesWindow ?? false;
    socket.on('drain', () => this.#onDrain());
    socket.on('error', () => undefined);
    if (options.announcesWindow) {
      this.#write(initialWindow(MAX_BUFFERED_BYTES));
      this.#write(windowUpdate(0, MAX_BUFFERED_BYTES - DEFAULT_WINDOW_BYTES));
    }
    this.closed = this.#run();
  }

  /** Opens a stream. It may be written to at once, before the peer has accepted it. */
  open(headers: SpdyHeaders): SpdyStream {
    const id = this.#nextStream;
    if (id > MAX_ID) throw new SpdyError('the session has no more stream ids');
    this.#nextStream += 2;
    const stream = new SpdyStream(id, headers, { host: this, sendWindow: this.#initialSendWindow, isOwn: true });
    if (this.#isClosing || this.socket.destroyed) {
      stream.disconnected(undefined);
      return stream;
    }
    this.#streams.set(id, stream);
    this.#write(synStream(id, this.#encode(headers)));
    return stream;
  }

  /** Resolves when the peer has answered. Never resolves if the connection is lost. */
  ping(): Promise<void> {
    const id = this.#nextPing;
    this.#nextPing = (this.#nextPing + 2) % MAX_ID;
    return new Promise((resolve) => {
      this.#pings.set(id, resolve);
      this.#write(ping(id));
    });
  }

  /** Sends GOAWAY and ends the connection when everything was sent. Open streams are reset. */
  close(): void {
    if (this.#isClosing) return;
    for (const stream of [...this.#streams.values()]) stream.destroy();
    this.#isClosing = true;
    this.#write(goAway(this.#lastPeerStream, GoAwayCode.ok));
    this.socket.end();
  }

  destroy(error?: Error): void {
    this.#isClosing = true;
    this.socket.destroy(error);
  }

  send(stream: SpdyStream, chunks: readonly Buffer[], done: (error?: Error) => void): void {
    if (stream.resetCode !== undefined || this.#isClosing) {
      done();
      return;
    }
    if (this.#waitingForWindow.length === 0 && !this.#hasPeerWindows) {
      for (const chunk of chunks) {
        stream.sendWindow -= chunk.length;
        this.#sendWindow -= chunk.length;
        this.#writeData(stream, chunk);
      }
      this.#whenDrained(done);
      return;
    }
    this.#waitingForWindow.push({ stream, chunks: [...chunks], done });
    this.#sendWaiting();
  }

  sendEnd(stream: SpdyStream, done: (error?: Error) => void): void {
    if (stream.resetCode === undefined && this.#streams.has(stream.id)) this.#write(dataHead(stream.id, 0, Flag.fin));
    done();
  }

  sendReply(stream: SpdyStream, headers: SpdyHeaders): void {
    this.#answerOrDrop(synReply(stream.id, this.#encode(headers)));
  }

  consumed(stream: SpdyStream): void {
    this.#count(stream, stream.readableLength);
    if (!this.#hasPeerWindows && !this.options.announcesWindow) return;
    const bytes = stream.unacknowledgedBytes - stream.readableLength;
    if (bytes < ACKNOWLEDGED_BYTES || !this.#streams.has(stream.id)) return;
    stream.unacknowledgedBytes -= bytes;
    this.#write(windowUpdate(stream.id, bytes));
  }

  streamClosed(stream: SpdyStream, resetCode: number | undefined): void {
    this.#count(stream, 0);
    if (!this.#streams.delete(stream.id)) return;
    if (resetCode !== undefined) this.#answerOrDrop(rstStream(stream.id, resetCode));
    const [over, waiting] = partition(this.#waitingForWindow, (write) => write.stream === stream);
    this.#waitingForWindow = waiting;
    for (const { done } of over) done();
  }

  /** Reads frames, one after the other, until the connection ends. Never rejects. */
  async #run(): Promise<Error | undefined> {
    const parser = new FrameParser();
    const failure = await eachChunk(this.socket, (chunk) =>
      eachInTurn(mergedData(parser, chunk), (frame) =>
        frame.kind === 'data' ? this.#onData(frame) : this.#onControl(frame),
      ),
    );
    this.#end(failure);
    return failure;
  }

  #end(failure: Error | undefined): void {
    this.#isClosing = true;
    this.#inflater.close();
    const streams = [...this.#streams.values()];
    this.#streams.clear();
    const waiting = [...this.#waitingForDrain, ...this.#waitingForWindow.map(({ done }) => done)];
    this.#waitingForDrain = [];
    this.#waitingForWindow = [];
    for (const done of waiting) done();
    for (const stream of streams) stream.disconnected(failure);
    if (!(failure instanceof SpdyError)) this.socket.destroy();
    else this.socket.end(goAway(this.#lastPeerStream, GoAwayCode.protocolError), () => this.socket.destroy());
  }

  #onData({ stream: id, bytes, isLast }: DataPiece): Promise<void> | undefined {
    this.#extendSessionWindow(bytes.length);
    const stream = this.#streams.get(id);
    // The stream may have been closed locally while the bytes were in transit.
    if (!stream) return undefined;
    const hasRoom = stream.receive(bytes, isLast);
    if (this.options.announcesWindow) {
      if (stream.unacknowledgedBytes > MAX_BUFFERED_BYTES) stream.reset(ResetCode.flowControlError);
      return undefined;
    }
    // A peer with windows cannot fill a stream, unless it violates them.
    return hasRoom ? this.#whenRoom() : stream.whenRead();
  }

  /** Counts the received bytes that a stream's reader has not consumed. */
  #count(stream: SpdyStream, bytes: number): void {
    this.#bufferedBytes += bytes - stream.bufferedBytes;
    stream.bufferedBytes = bytes;
    if (this.#bufferedBytes <= MAX_SESSION_BUFFERED_BYTES) this.#wake();
  }

  /** Resolves when the readers of all streams have caught up enough; undefined when they have. */
  #whenRoom(): Promise<void> | undefined {
    if (this.#bufferedBytes <= MAX_SESSION_BUFFERED_BYTES) return undefined;
    return new Promise((resolve) => {
      this.#onRoom = resolve;
    });
  }

  #wake(): void {
    const onRoom = this.#onRoom;
    this.#onRoom = undefined;
    onRoom?.();
  }

  #onControl({ type, flags, payload }: ControlFrame): Promise<void> | undefined {
    switch (type) {
      case FrameType.synStream:
        return this.#onSynStream(payload, flags);
      case FrameType.synReply:
      case FrameType.headers:
        return this.#onHeaders(payload, { flags, isReply: type === FrameType.synReply });
      case FrameType.rstStream:
        this.#onReset(numberAt(payload, 0), numberAt(payload, 4));
        return undefined;
      case FrameType.settings:
        this.#onSettings(payload);
        return undefined;
      case FrameType.ping:
        this.#onPing(numberAt(payload, 0));
        return undefined;
      case FrameType.windowUpdate:
        this.#onWindowUpdate(idAt(payload, 0), idAt(payload, 4));
        return undefined;
      default:
        // A peer that sends GOAWAY closes the connection when its streams are over; unknown frames are ignored.
        return undefined;
    }
  }

  async #onSynStream(payload: Buffer, flags: number): Promise<void> {
    const id = idAt(payload, 0);
    if (payload.length < 10) throw new SpdyError('a frame is truncated');
    // The block must always be inflated: the next one depends on it.
    const headers = decodeHeaders(await this.#inflater.inflate(payload.subarray(10)));
    if (!this.#isFromPeer(id) || id <= this.#lastPeerStream) throw new SpdyError(`stream ${id} cannot be opened`);
    this.#lastPeerStream = id;
    const { onStream, maxStreams = DEFAULT_MAX_STREAMS } = this.options;
    if (!onStream || this.#isClosing || this.#peerStreams >= maxStreams) {
      this.#answer(rstStream(id, ResetCode.refusedStream));
      return;
    }
    const stream = new SpdyStream(id, headers, { host: this, sendWindow: this.#initialSendWindow, isOwn: false });
    this.#streams.set(id, stream);
    this.#peerStreams++;
    // A stream that the peer has reset also keeps its received data until it is closed locally.
    stream.once('close', () => this.#peerStreams--);
    if (flags & Flag.fin) stream.receive(Buffer.alloc(0), true);
    onStream(stream);
  }

  async #onHeaders(payload: Buffer, { flags, isReply }: { flags: number; isReply: boolean }): Promise<void> {
    const id = idAt(payload, 0);
    const headers = decodeHeaders(await this.#inflater.inflate(payload.subarray(4)));
    const stream = this.#streams.get(id);
    if (isReply) stream?.peerAccepted(headers);
    if (flags & Flag.fin) stream?.receive(Buffer.alloc(0), true);
  }

  #onReset(id: number, code: number): void {
    const stream = this.#streams.get(id & MAX_ID);
    if (!stream) return;
    this.#streams.delete(stream.id);
    stream.peerReset(code);
    const [over, waiting] = partition(this.#waitingForWindow, (write) => write.stream === stream);
    this.#waitingForWindow = waiting;
    for (const { done } of over) done();
  }

  #onSettings(payload: Buffer): void {
    const count = numberAt(payload, 0);
    if (payload.length < 4 + count * 8) throw new SpdyError('a frame is truncated');
    let window: number | undefined;
    for (let at = 4; at < 4 + count * 8; at += 8) {
      if ((payload.readUInt32BE(at) & 0xffffff) === INITIAL_WINDOW_SETTING) window = idAt(payload, at + 4);
    }
    // The last of several values counts: a frame may have thousands, and a session as many streams.
    if (window === undefined) return;
    this.#hasPeerWindows = true;
    const change = window - this.#initialSendWindow;
    this.#initialSendWindow = window;
    for (const stream of this.#streams.values()) stream.sendWindow += change;
    this.#sendWaiting();
  }

  #onPing(id: number): void {
    if (id % 2 !== this.#nextPing % 2) {
      this.#answer(ping(id));
      return;
    }
    const resolve = this.#pings.get(id);
    this.#pings.delete(id);
    resolve?.();
  }

  #onWindowUpdate(id: number, bytes: number): void {
    this.#hasPeerWindows = true;
    const stream = this.#streams.get(id);
    if (id === 0) this.#sendWindow += bytes;
    else if (stream) stream.sendWindow += bytes;
    this.#sendWaiting();
  }

  /** Extends the window of the session, always: each stream has its own limit. */
  #extendSessionWindow(bytes: number): void {
    this.#unacknowledgedBytes += bytes;
    if (!this.#hasPeerWindows && !this.options.announcesWindow) return;
    if (this.#unacknowledgedBytes < ACKNOWLEDGED_BYTES) return;
    this.#write(windowUpdate(0, this.#unacknowledgedBytes));
    this.#unacknowledgedBytes = 0;
  }

  /** Sends as much as the windows of the peer allow, oldest first. */
  #sendWaiting(): void {
    const waiting = this.#waitingForWindow;
    this.#waitingForWindow = [];
    for (const write of waiting) {
      if (this.#sendPart(write)) this.#whenDrained(write.done);
      else this.#waitingForWindow.push(write);
    }
  }

  /** Sends as much of a write as possible. Returns whether all of it was sent. */
  #sendPart(write: WaitingWrite): boolean {
    const { stream, chunks } = write;
    while (chunks.length > 0) {
      const room = Math.min(stream.sendWindow, this.#sendWindow);
      if (room <= 0) return false;
      const chunk = chunks[0]!;
      const part = room >= chunk.length ? chunk : chunk.subarray(0, room);
      if (part === chunk) chunks.shift();
      else chunks[0] = chunk.subarray(part.length);
      stream.sendWindow -= part.length;
      this.#sendWindow -= part.length;
      this.#writeData(stream, part);
    }
    return true;
  }

  #writeData({ id }: SpdyStream, bytes: Buffer): void {
    this.socket.cork();
    for (let offset = 0; offset < bytes.length; offset += MAX_DATA_FRAME_BYTES) {
      // A whole buffer can be moved to another thread, a slice cannot.
      const isWhole = bytes.length <= MAX_DATA_FRAME_BYTES;
      const part = isWhole ? bytes : bytes.subarray(offset, offset + MAX_DATA_FRAME_BYTES);
      this.#write(dataHead(id, part.length));
      this.#write(part);
    }
    this.socket.uncork();
  }

  /** Sends an answer that the peer caused; a peer that causes many and reads none is disconnected. */
  #answer(frame: Buffer): void {
    if (this.socket.writableNeedDrain) this.#unreadAnswerBytes += frame.length;
    if (this.#unreadAnswerBytes > MAX_UNREAD_ANSWERS_BYTES) throw new SpdyError('the peer does not read');
    this.#write(frame);
  }

  /** Sends an answer outside of reading frames, where nobody handles an error. */
  #answerOrDrop(frame: Buffer): void {
    try {
      this.#answer(frame);
    } catch (error) {
      this.destroy(error as SpdyError);
    }
  }

  #write(bytes: Buffer): void {
    if (!this.socket.writable) return;
    this.socket.write(bytes);
  }

  #whenDrained(done: () => void): void {
    if (this.socket.writableNeedDrain) this.#waitingForDrain.push(done);
    else done();
  }

  #onDrain(): void {
    this.#unreadAnswerBytes = 0;
    const waiting = this.#waitingForDrain;
    this.#waitingForDrain = [];
    for (const done of waiting) done();
  }

  #encode(headers: SpdyHeaders): Buffer {
    const block = encodeHeaders(headers, !this.#hasSentHeaders);
    this.#hasSentHeaders = true;
    return block;
  }

  #isFromPeer(id: number): boolean {
    return id % 2 === (this.options.role === 'client' ? 0 : 1);
  }
}

function numberAt(payload: Buffer, offset: number): number {
  if (payload.length < offset + 4) throw new SpdyError('a frame is truncated');
  return payload.readUInt32BE(offset);
}

function idAt(payload: Buffer, offset: number): number {
  return numberAt(payload, offset) & MAX_ID;
}

function partition<T>(items: readonly T[], test: (item: T) => boolean): [T[], T[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}

import { Duplex } from 'node:stream';
import { StreamResetError } from './errors.ts';
import { ResetCode } from './frames.ts';
import type { SpdyHeaders } from './headers.ts';

/** Bytes that a stream buffers for a slow reader, and the window that a session announces. */
export const MAX_BUFFERED_BYTES = 256 * 1024;
const WRITE_BUFFER_BYTES = 64 * 1024;

/** The functions of the session that a stream uses. */
export interface StreamHost {
  /** Calls back when more may be sent; at once when the stream was reset. */
  send(stream: SpdyStream, chunks: readonly Buffer[], done: (error?: Error) => void): void;
  sendEnd(stream: SpdyStream, done: (error?: Error) => void): void;
  sendReply(stream: SpdyStream, headers: SpdyHeaders): void;
  /** Called when the reader of a stream has consumed some of its bytes. */
  consumed(stream: SpdyStream): void;
  /** Called when the stream is over on this side. `resetCode` tells why; undefined if the stream is complete. */
  streamClosed(stream: SpdyStream, resetCode: number | undefined): void;
}

/**
 * A stream of a session. A reset by the peer ends the readable side after the received data, because Kubernetes'
 * servers end complete streams that way; later writes are discarded.
 */
export class SpdyStream extends Duplex {
  /** Bytes that may be sent before the peer extends the window. */
  sendWindow: number;
  /** Received bytes for which the peer's window has not been extended. */
  unacknowledgedBytes = 0;
  /** Bytes that the session counts for this stream. */
  bufferedBytes = 0;
  /** The code with which the peer reset the stream. */
  resetCode: number | undefined;
  /** Resolves when the peer has accepted a stream that was opened here; rejects with a StreamResetError. */
  readonly accepted: Promise<SpdyHeaders>;
  readonly #host: StreamHost;
  #settleAccepted: { resolve(headers: SpdyHeaders): void; reject(error: Error): void } | undefined;
  #hasReplied: boolean;
  #hasPeerEnded = false;
  #hasEnded = false;
  #onReadable: (() => void) | undefined;

  constructor(
    readonly id: number,
    /** The headers that opened the stream. */
    readonly headers: SpdyHeaders,
    { host, sendWindow, isOwn }: { readonly host: StreamHost; readonly sendWindow: number; readonly isOwn: boolean },
  ) {
    super({ readableHighWaterMark: MAX_BUFFERED_BYTES, writableHighWaterMark: WRITE_BUFFER_BYTES });
    // A connection that is lost must not end the program. `close` follows, and pipelines see the error.
    this.on('error', () => undefined);
    this.#host = host;
    this.sendWindow = sendWindow;
    this.#hasReplied = isOwn;
    this.accepted = new Promise((resolve, reject) => {
      this.#settleAccepted = { resolve, reject };
    });
    // Awaiting it is optional.
    this.accepted.catch(() => undefined);
  }

  /** Accepts a stream that the peer opened. */
  accept(headers: SpdyHeaders = {}): void {
    if (this.#hasReplied || this.destroyed) return;
    this.#hasReplied = true;
    this.#host.sendReply(this, headers);
  }

  /** Ends the stream in both directions and tells the peer why. */
  reset(code: number): void {
    if (this.destroyed) return;
    this.resetCode = code;
    this.destroy();
  }

  override _read(): void {
    // Bytes are pushed as they arrive; `read` only tracks how much was consumed.
  }

  override read(size?: number): Buffer | null {
    const bytes = super.read(size) as Buffer | null;
    if (bytes !== null) this.#consumed();
    return bytes;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#host.send(this, [chunk], done);
  }

  override _writev(chunks: readonly { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#host.send(
      this,
      chunks.map(({ chunk }) => chunk),
      done,
    );
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#hasEnded = true;
    this.#host.sendEnd(this, done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const isComplete = this.#hasPeerEnded && this.#hasEnded;
    this.#host.streamClosed(this, isComplete ? undefined : (this.resetCode ?? ResetCode.cancel));
    this.#settleAccepted?.reject(error ?? new StreamResetError('the stream was closed'));
    this.#wake();
    done(error);
  }

  /** Used by the session: takes received bytes. Returns false when the reader should catch up first. */
  receive(bytes: Buffer, isLast: boolean): boolean {
    if (this.#hasPeerEnded || this.destroyed) return true;
    this.unacknowledgedBytes += bytes.length;
    const hasRoom = bytes.length === 0 || this.push(bytes);
    if (isLast) this.#endReadable();
    // A flowing stream has passed them on already.
    this.#consumed();
    return hasRoom || isLast;
  }

  /** Used by the session: resolves when the reader has caught up, or the stream is over. */
  whenRead(): Promise<void> {
    if (this.destroyed || this.readableLength < this.readableHighWaterMark) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onReadable = resolve;
    });
  }

  /** Used by the session: the peer has accepted the stream. */
  peerAccepted(headers: SpdyHeaders): void {
    this.#settleAccepted?.resolve(headers);
    this.#settleAccepted = undefined;
  }

  /** Used by the session: the peer has ended the stream in both directions. */
  peerReset(code: number): void {
    this.resetCode = code;
    this.#settleAccepted?.reject(new StreamResetError('the peer refused the stream', code));
    this.#settleAccepted = undefined;
    this.#endReadable();
  }

  /** Used by the session: the connection is closed. */
  disconnected(cause: Error | undefined): void {
    if (this.#hasPeerEnded) return;
    const error = new StreamResetError('the connection was closed');
    error.cause = cause;
    this.destroy(error);
  }

  #endReadable(): void {
    if (this.#hasPeerEnded || this.destroyed) return;
    this.#hasPeerEnded = true;
    this.push(null);
  }

  #consumed(): void {
    if (this.#onReadable && this.readableLength < this.readableHighWaterMark) this.#wake();
    this.#host.consumed(this);
  }

  #wake(): void {
    const onReadable = this.#onReadable;
    this.#onReadable = undefined;
    onReadable?.();
  }
}

import { Duplex } from 'node:stream';
import { MAX_IN_FLIGHT_BYTES } from './messages.ts';

/** The functions of its exchange that an upgraded connection uses. */
export interface RemoteSocketHost {
  /** Sends buffers one after the other. Calls back when more may be sent. */
  send(buffers: readonly Buffer[], done: () => void): void;
  sendEnd(): void;
  /** Reports the total number of received bytes that have been consumed. */
  reportConsumed(total: number): void;
  abort(): void;
}

/** Increment at which consumption is reported: often enough that the other thread need not wait. */
const REPORTED_BYTES = 64 * 1024;

/** A connection whose socket is in the front thread. Neither thread holds more than a window of its bytes. */
export class RemoteSocket extends Duplex {
  readonly #host: RemoteSocketHost;
  #received = 0;
  #reported = 0;

  constructor(host: RemoteSocketHost) {
    super({ readableHighWaterMark: REPORTED_BYTES, writableHighWaterMark: MAX_IN_FLIGHT_BYTES });
    this.#host = host;
    // The client has disconnected; users of the connection see it close.
    this.on('error', () => undefined);
  }

  receive(bytes: Buffer): void {
    if (this.destroyed || this.readableEnded) return;
    this.#received += bytes.length;
    this.push(bytes);
    this.#report();
  }

  receiveEnd(): void {
    if (!this.destroyed) this.push(null);
  }

  override read(size?: number): Buffer | null {
    const bytes = super.read(size) as Buffer | null;
    if (bytes !== null) this.#report();
    return bytes;
  }

  override _read(): void {
    // Bytes are pushed as they arrive; `read` only tracks how much was consumed.
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#host.send([bytes], done);
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    this.#host.send(
      chunks.map(({ chunk }) => chunk),
      done,
    );
  }

  override _final(done: () => void): void {
    this.#host.sendEnd();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#host.abort();
    done(error);
  }

  #report(): void {
    const consumed = this.#received - this.readableLength;
    if (consumed - this.#reported < REPORTED_BYTES) return;
    this.#reported = consumed;
    this.#host.reportConsumed(consumed);
  }
}

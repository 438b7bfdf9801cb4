import { Duplex } from 'node:stream';
import { MAX_IN_FLIGHT_BYTES } from './flow.ts';

/** What an upgraded connection needs of its exchange. */
export interface RemoteSocketHost {
  /** Sends buffers one after the other. Calls back when more may be sent. */
  send(buffers: readonly Buffer[], done: () => void): void;
  sendEnd(): void;
  /** How many of the received bytes have been used in all. */
  reportConsumed(total: number): void;
  /** Drops the client. */
  abort(): void;
}

/** Consumption is reported when it has grown by this much: often enough that the other thread need not wait. */
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

  /** The client sent these bytes. */
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
    // Bytes are pushed as they arrive; `read` notices what was taken.
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

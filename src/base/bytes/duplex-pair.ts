import { Duplex } from 'node:stream';

/** Two connected streams with back-pressure: data written to one is read from the other. */
export function duplexPair(): readonly [Duplex, Duplex] {
  const [a, b] = [new Side(), new Side()];
  a.other = b;
  b.other = a;
  return [a, b];
}

class Side extends Duplex {
  other!: Side;
  #written: (() => void) | undefined;

  constructor() {
    super();
    // The other side is notified by `close`.
    this.on('error', () => undefined);
  }

  override _read(): void {
    this.other.#taken();
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const { other } = this;
    if (other.destroyed) done(new Error('the other side has closed the connection'));
    else if (other.push(bytes)) done();
    else this.#written = done;
  }

  override _final(done: (error?: Error | null) => void): void {
    if (!this.other.destroyed) this.other.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#taken();
    const { other } = this;
    // Data written before the end can still be read, but data from the other side has no reader any more.
    if (this.writableFinished && !other.readableEnded) other.once('end', () => other.destroy());
    else other.destroy();
    done(error);
  }

  #taken(): void {
    const written = this.#written;
    this.#written = undefined;
    written?.();
  }
}

import { Duplex } from 'node:stream';
import type { SpdySession } from '../../protocols/spdy/session.ts';
import type { SpdyStream } from '../../protocols/spdy/stream.ts';
import { openSession, type RemoteTarget } from './client.ts';
import { errorText } from './error-text.ts';
import { PORT_PROTOCOL } from './spdy-ports.ts';

/** Limit for the bytes buffered in each direction. */
const BUFFERED_BYTES = 256 * 1024;

/** Connects to one port through a server that forwards ports. Rejects when the server rejects. */
export async function openPort(target: RemoteTarget, port: number): Promise<Duplex> {
  const session = await openSession(target, [PORT_PROTOCOL]);
  const headers = { port: String(port), requestid: '0' };
  const error = session.open({ ...headers, streamtype: 'error' });
  error.end();
  const data = session.open({ ...headers, streamtype: 'data' });
  await data.accepted;
  return new PortConnection(session, data, errorText(error));
}

/**
 * A connection through a forwarded port. Servers close the data stream of a connection that failed, and report the
 * error before that or, like containerd, only afterwards. The end is therefore held back until the error stream has
 * ended without a message, which happens as soon as a connection is over.
 */
class PortConnection extends Duplex {
  constructor(
    private readonly session: SpdySession,
    private readonly data: SpdyStream,
    failure: Promise<string>,
  ) {
    super({ highWaterMark: BUFFERED_BYTES });
    // A connection that is lost must not end the program; `close` follows, and pipelines see the error.
    this.on('error', () => undefined);
    const said = failure.catch(() => '');
    data.on('data', (bytes: Buffer) => {
      if (!this.push(bytes)) data.pause();
    });
    data.once('end', async () => {
      const message = await said;
      if (message === '') this.push(null);
      else this.destroy(new Error(message));
    });
    data.once('close', () => {
      if (!data.readableEnded) this.destroy(data.errored ?? undefined);
    });
  }

  override _read(): void {
    this.data.resume();
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.data.write(bytes, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.data.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.data.destroy();
    this.session.close();
    done(error);
  }
}

/** Forwarded ports over SPDY: a data stream and an error stream for each connection of the client. */
import type { Duplex } from 'node:stream';
import { ResetCode } from '../../protocols/spdy/frames.ts';
import { SpdySession } from '../../protocols/spdy/session.ts';
import type { SpdyStream } from '../../protocols/spdy/stream.ts';
import { joined } from './joined.ts';

export const PORT_PROTOCOL = 'portforward.k8s.io';

/** Limit for the streams that one client has open. */
const MAX_PORT_STREAMS = 2000;

export interface PortForwarder {
  connect(port: number): Promise<Duplex>;
  /** Formats the error for the client when a port cannot be reached. */
  describe(port: number, error: Error): string;
}

/** Serves a client until it disconnects. Never rejects. */
export async function serveSpdyPorts(socket: Duplex, forwarder: PortForwarder): Promise<void> {
  /** Streams whose counterpart has not been opened yet, by request id. */
  const halves = new Map<string, SpdyStream>();
  const session = new SpdySession(socket, {
    role: 'server',
    maxStreams: MAX_PORT_STREAMS,
    onStream(stream) {
      const { streamtype: type, port } = stream.headers;
      if ((type !== 'data' && type !== 'error') || !isPort(Number(port))) {
        stream.reset(ResetCode.protocolError);
        return;
      }
      stream.accept();
      const request = requestOf(stream);
      const half = halves.get(request);
      if (!half) {
        halves.set(request, stream);
        stream.once('close', () => {
          if (halves.get(request) === stream) halves.delete(request);
        });
        return;
      }
      halves.delete(request);
      if (half.headers.streamtype === type) {
        half.destroy();
        stream.destroy();
        return;
      }
      const [data, error] = type === 'data' ? [stream, half] : [half, stream];
      void forward({ data, error }, Number(port), forwarder);
    },
  });
  await session.closed;
}

/** The request that a stream belongs to. Clients before release 1.3 name none: their streams have consecutive ids. */
function requestOf({ id, headers }: SpdyStream): string {
  return headers.requestid ?? `stream ${headers.streamtype === 'error' ? id : id - 2}`;
}

async function forward(
  { data, error }: { readonly data: SpdyStream; readonly error: SpdyStream },
  port: number,
  forwarder: PortForwarder,
): Promise<void> {
  error.resume();
  // Clients close their connection when both streams have ended: from then on, the port has nothing to send.
  data.once('finish', () => error.end());
  try {
    const target = await forwarder.connect(port);
    // A client that resets a stream reads no more of it: the port still gets the data sent before, and nothing waits
    // for it.
    data.once('end', () => {
      if (data.resetCode !== undefined) target.end(() => target.destroy());
    });
    await joined(data, target);
    error.end();
  } catch (cause) {
    if (error.writableEnded) data.destroy();
    else error.end(forwarder.describe(port, cause as Error), () => data.destroy());
  }
}

export function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= 65_535;
}

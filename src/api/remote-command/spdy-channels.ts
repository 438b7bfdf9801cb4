/** The channels of a command over SPDY: one stream per channel, opened by the client and named in its headers. */
import type { Duplex } from 'node:stream';
import { withResolvers } from '../../base/event-loop/with-resolvers.ts';
import type { Clock } from '../../base/time/clock.ts';
import { ResetCode } from '../../protocols/spdy/frames.ts';
import { SpdySession } from '../../protocols/spdy/session.ts';
import type { SpdyStream } from '../../protocols/spdy/stream.ts';
import { type CommandChannels, type CommandStreams, ResizeReader } from './command-channels.ts';
import { reportOf } from './websocket-channels.ts';

/** Preferred first. Those before the fourth report failures as text; those before the third have no resize stream. */
export const SPDY_COMMAND_PROTOCOLS = [
  'v4.channel.k8s.io',
  'v3.channel.k8s.io',
  'v2.channel.k8s.io',
  'channel.k8s.io',
] as const;

type SpdyCommandProtocol = (typeof SPDY_COMMAND_PROTOCOLS)[number];

/** Timeout for the client to open its streams. */
const STREAM_CREATION_TIMEOUT_MS = 30_000;

/** Timeout for the client to close the connection after its command has ended. */
const CLOSE_TIMEOUT_MS = 10_000;

const STREAM_TYPES = ['error', 'stdin', 'stdout', 'stderr', 'resize'] as const;
type StreamType = (typeof STREAM_TYPES)[number];

interface SpdyChannelsOptions {
  readonly protocol: SpdyCommandProtocol;
  readonly streams: CommandStreams;
  readonly clock: Clock;
}

/** Resolves when the client has opened all streams. Rejects when it does not, or disconnects. */
export async function spdyChannels(
  socket: Duplex,
  { protocol, streams, clock }: SpdyChannelsOptions,
): Promise<CommandChannels> {
  const expected = expectedStreams(protocol, streams);
  const opened = new Map<StreamType, SpdyStream>();
  const { session, complete } = awaitStreams(socket, expected, opened);
  const timer = clock.timer(STREAM_CREATION_TIMEOUT_MS, () => session.destroy());
  try {
    await complete;
  } catch (error) {
    session.destroy();
    throw error;
  } finally {
    timer.cancel();
  }
  const resize = new ResizeReader();
  opened.get('resize')?.on('data', (bytes: Buffer) => resize.push(bytes));
  const errors = opened.get('error')!;
  // Clients send no data on these streams, but end them.
  for (const type of ['error', 'stdout', 'stderr'] as const) opened.get(type)?.resume();
  // Clients of the first protocol version wait for the end of stdin.
  if (protocol === 'channel.k8s.io') opened.get('stdin')?.end();
  return {
    stdin: opened.get('stdin'),
    stdout: opened.get('stdout'),
    stderr: opened.get('stderr'),
    closed: session.closed,
    onResize: (listener) => resize.onResize(listener),
    finish: (status) => {
      const report = reportOf(status, protocol === 'v4.channel.k8s.io');
      for (const type of ['stdout', 'stderr'] as const) opened.get(type)?.end();
      if (report) errors.write(report);
      errors.end();
      // Leaves closing to the client: when the server closes, Kubernetes' clients discard data that they have not read
      // yet.
      const closing = clock.timer(CLOSE_TIMEOUT_MS, () => session.close());
      void session.closed.then(() => closing.cancel());
    },
    destroy: () => session.destroy(),
  };
}

function expectedStreams(protocol: SpdyCommandProtocol, streams: CommandStreams): ReadonlySet<StreamType> {
  const hasResize = protocol === 'v4.channel.k8s.io' || protocol === 'v3.channel.k8s.io';
  return new Set<StreamType>([
    'error',
    ...(streams.stdin ? (['stdin'] as const) : []),
    ...(streams.stdout ? (['stdout'] as const) : []),
    ...(streams.stderr ? (['stderr'] as const) : []),
    ...(streams.tty && hasResize ? (['resize'] as const) : []),
  ]);
}

function awaitStreams(socket: Duplex, expected: ReadonlySet<StreamType>, opened: Map<StreamType, SpdyStream>) {
  const { promise: complete, resolve: resolveComplete } = withResolvers<void>();
  const session = new SpdySession(socket, {
    role: 'server',
    maxStreams: STREAM_TYPES.length,
    onStream(stream) {
      const type = STREAM_TYPES.find((each) => each === stream.headers.streamtype);
      if (!type || opened.has(type)) {
        stream.reset(ResetCode.protocolError);
        return;
      }
      opened.set(type, stream);
      stream.accept();
      if ([...expected].every((each) => opened.has(each))) resolveComplete();
    },
  });
  const gone = session.closed.then((error) => {
    throw new Error('the client did not open its streams', { cause: error });
  });
  gone.catch(() => undefined);
  return { session, complete: Promise.race([complete, gone]) };
}

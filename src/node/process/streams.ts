/** The streams of exec and attach on the agent's side. */
import type { Socket } from 'node:net';
import { finished } from 'node:stream/promises';
import type { ProcessStreams } from '../../base/programs/process-streams.ts';
import type { Clock } from '../../base/time/clock.ts';
import { RuntimeError } from '../runtime/errors.ts';
import type { AttachRequest, RunRequest, RunResult } from '../runtime/runtime.ts';
import type { StreamName } from './wire/calls.ts';
import type { KeeperConnection } from './wire/connection.ts';

/** Opens the connections of a request, and makes the call that uses them. */
export async function openStreams(
  connection: KeeperConnection,
  stream: string,
  request: AttachRequest,
  call: () => Promise<void>,
): Promise<ProcessStreams> {
  const ended = connection.ended(stream);
  ended.catch(() => undefined);
  const open = async (isWanted: boolean, name: StreamName) => (isWanted ? connection.stream(stream, name) : undefined);
  const [stdin, stdout, stderr] = await Promise.all([
    open(request.stdin, 'stdin'),
    open(request.stdout, 'stdout'),
    open(request.stderr && !request.tty, 'stderr'),
  ]);
  const sockets = [stdin, stdout, stderr].filter((socket) => socket !== undefined);
  for (const socket of sockets) socket.on('error', () => undefined);
  const close = () => {
    connection.call('closeStream', { stream }).catch(() => undefined);
    for (const socket of sockets) socket.destroy();
  };
  try {
    await call();
  } catch (error) {
    close();
    throw error;
  }
  // The other direction of an input carries nothing, but its end must be read.
  stdin?.resume();
  const outputs = [stdout, stderr].filter((socket) => socket !== undefined).map(untilRead);
  const exit = (async () => {
    const exitCode = await ended;
    stdin?.destroy();
    await Promise.all(outputs);
    return { exitCode };
  })();
  exit.catch(() => undefined);
  return {
    stdin,
    stdout,
    stderr,
    exit,
    resize: (size) => {
      connection.call('resize', { stream, size }).catch(() => undefined);
    },
    close,
  };
}

/** Resolves when a stream was read to its end, or closed before. */
async function untilRead(socket: Socket): Promise<void> {
  await finished(socket, { writable: false, cleanup: true }).catch(() => undefined);
}

/** Runs a command to its end. What it does not print within the limits is dropped. */
export async function collect(
  streams: ProcessStreams,
  { timeoutMs, maxBytes }: RunRequest,
  clock: Clock,
): Promise<RunResult> {
  const outputs = {
    stdout: limited(streams.stdout as Socket, maxBytes),
    stderr: limited(streams.stderr as Socket, maxBytes),
  };
  let timer: { cancel(): void } | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = clock.timer(timeoutMs, () => {
      streams.close();
      reject(new RuntimeError('DeadlineExceeded', `command timed out after ${timeoutMs / 1_000}s`));
    });
  });
  try {
    const { exitCode } = await Promise.race([streams.exit, late]);
    return { exitCode, stdout: outputs.stdout(), stderr: outputs.stderr() };
  } finally {
    timer?.cancel();
  }
}

function limited(socket: Socket, maxBytes: number): () => Buffer {
  const chunks: Buffer[] = [];
  let left = maxBytes;
  socket.on('data', (chunk: Buffer) => {
    if (left > 0) chunks.push(chunk.subarray(0, left));
    left -= Math.min(left, chunk.length);
  });
  return () => Buffer.concat(chunks);
}

/** Resolves when the connection of a forwarded port stands. It fails when the pod resets it. */
export async function openPort(
  connection: KeeperConnection,
  stream: string,
  call: () => Promise<void>,
): Promise<Socket> {
  const ended = connection.ended(stream);
  ended.catch(() => undefined);
  const socket = await connection.stream(stream, 'data');
  // Users of the socket see the error as well.
  socket.on('error', () => undefined);
  socket.once('close', () => {
    connection.call('closeStream', { stream }).catch(() => undefined);
  });
  try {
    await call();
  } catch (error) {
    socket.destroy();
    throw error;
  }
  ended.catch((error: Error) => socket.destroy(error));
  return socket;
}

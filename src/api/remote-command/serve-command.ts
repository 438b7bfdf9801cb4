import { finished, type Readable, type Writable } from 'node:stream';
import type { ProcessStreams } from '../../base/programs/process-streams.ts';
import type { CommandChannels } from './command-channels.ts';
import { exitStatus, failureStatus } from './command-status.ts';

export interface ServeCommandOptions {
  /** Prefix of the message when the process has no exit code: `error executing command in container`. */
  readonly failure: string;
}

/** Connects a process with its client until the process has ended or the client has disconnected. Never rejects. */
export async function serveCommand(
  process: ProcessStreams,
  channels: CommandChannels,
  { failure }: ServeCommandOptions,
): Promise<void> {
  channels.onResize((size) => process.resize(size));
  connectInput(channels.stdin, process.stdin);
  const output = Promise.all([pumped(process.stdout, channels.stdout), pumped(process.stderr, channels.stderr)]);
  let isGone = false;
  const gone = channels.closed.then(() => {
    isGone = true;
    process.close();
  });
  const ended = process.exit.then(exitStatus, ({ message }: Error) =>
    // The agent or the runtime may have added the prefix already.
    failureStatus(message.startsWith(`${failure}: `) ? message : `${failure}: ${message}`),
  );
  const status = await Promise.race([ended, gone]);
  if (status && !isGone) {
    await Promise.race([output, gone]);
    if (!isGone) channels.finish(status);
  }
  process.close();
  await channels.closed;
}

function connectInput(from: Readable | undefined, to: Writable | undefined): void {
  if (!from) return;
  if (!to) {
    from.resume();
    return;
  }
  // A process that does not read, or has closed its input, does not fail the command.
  to.on('error', () => from.unpipe(to).resume());
  from.on('error', () => to.end());
  from.on('close', () => {
    if (!from.readableEnded) to.end();
  });
  from.pipe(to);
}

/** Copies until the source has ended and everything was written. */
function pumped(from: Readable | undefined, to: Writable | undefined): Promise<void> {
  if (!from) return Promise.resolve();
  if (!to) {
    from.resume();
    return Promise.resolve();
  }
  return new Promise((resolve) => {
    to.on('error', () => from.unpipe(to).resume());
    finished(to, { readable: false }, () => resolve());
    finished(from, { writable: false }, () => to.end());
    from.pipe(to, { end: false });
  });
}

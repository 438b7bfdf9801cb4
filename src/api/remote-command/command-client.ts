import { finished } from 'node:stream';
import type { ProcessStreams } from '../../base/programs/process-streams.ts';
import { openSession, type RemoteTarget } from './client.ts';
import type { CommandStreams } from './command-channels.ts';
import { exitOf } from './command-status.ts';
import { errorText } from './error-text.ts';

/** Connects to a process that a server runs: the client's side of exec and attach. Rejects when the server rejects. */
export async function openCommand(target: RemoteTarget, streams: CommandStreams): Promise<ProcessStreams> {
  const session = await openSession(target, ['v4.channel.k8s.io']);
  const open = (streamtype: string) => session.open({ streamtype });
  const error = open('error');
  const stdin = streams.stdin ? open('stdin') : undefined;
  const stdout = streams.stdout ? open('stdout') : undefined;
  const stderr = streams.stderr && !streams.tty ? open('stderr') : undefined;
  const resize = streams.tty ? open('resize') : undefined;
  for (const each of [error, stdout, stderr]) each?.end();
  stdin?.resume();
  const exit = errorText(error).then(exitOf);
  exit.catch(() => undefined);
  const read = [stdout, stderr].map(
    (stream) => stream && new Promise<void>((resolve) => finished(stream, { writable: false }, () => resolve())),
  );
  void Promise.allSettled([exit, ...read]).then(() => session.close());
  return {
    stdin,
    stdout,
    stderr,
    exit,
    resize: ({ columns, rows }) => {
      if (resize && !resize.destroyed) resize.write(JSON.stringify({ Width: columns, Height: rows }));
    },
    close: () => session.close(),
  };
}

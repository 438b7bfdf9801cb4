/** A node whose containers are this machine: exec runs host processes, ports are those of loopback. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type Duplex, PassThrough } from 'node:stream';
import type { CommandStreams } from '../../src/api/remote-command/command-channels.ts';
import type { ProcessStreams, TerminalSize } from '../../src/base/programs/process-streams.ts';
import { NO_CONNECTION, type NodeConnection } from '../../src/server/outbound/nodes/connection.ts';

export interface HostNode extends NodeConnection {
  /** Processes that were started. */
  readonly children: ChildProcess[];
  readonly resized: TerminalSize[];
  stop(): void;
}

/** Process that attach connects to. */
const MAIN_PROCESS = ['sh', '-c', 'echo attached; while read -r line; do echo "got $line"; done; exit 0'];

export function hostNode(): HostNode {
  const children: ChildProcess[] = [];
  const resized: TerminalSize[] = [];
  const run = (command: readonly string[], streams: CommandStreams): ProcessStreams => {
    const [program = '', ...parameters] = streams.tty
      ? ['script', '-qfec', command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' '), '/dev/null']
      : command;
    const child = spawn(program, parameters, { detached: true });
    children.push(child);
    if (!streams.stdin) child.stdin.end();
    const started = once(child, 'spawn');
    const exit = started.then(() => once(child, 'close')).then(([code]) => ({ exitCode: code ?? 137 }));
    exit.catch(() => undefined);
    return {
      stdin: streams.stdin ? child.stdin : undefined,
      // Node discards unread output when a process exits.
      stdout: streams.stdout ? child.stdout.pipe(new PassThrough()) : undefined,
      stderr: streams.stderr ? child.stderr.pipe(new PassThrough()) : undefined,
      exit,
      resize: (size) => void resized.push(size),
      close: () => kill(child),
    };
  };
  return {
    ...NO_CONNECTION,
    children,
    resized,
    rejection: () => undefined,
    exec: async ({ command, streams }) => run(command, streams),
    attach: async ({ streams }) => run(MAIN_PROCESS, streams),
    portForward: ({ port }) => dial('127.0.0.1', port),
    dial: ({ address, port }) => dial(address, port),
    stop: () => {
      for (const child of children) kill(child);
    },
  };
}

async function dial(host: string, port: number): Promise<Duplex> {
  const socket = connect({ host, port, allowHalfOpen: true });
  await once(socket, 'connect');
  return socket;
}

function kill(child: ChildProcess): void {
  if (child.exitCode !== null || child.signalCode !== null || !child.pid) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

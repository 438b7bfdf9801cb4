import { once } from 'node:events';
import { createConnection, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { startPlainCommand } from '../command.ts';
import type { KeeperContext } from '../context.ts';
import type { Engine } from '../engine.ts';
import type { Command } from '../executor.ts';
import { type Ended, Sessions } from './sessions.ts';
import { StreamHub } from './stream-hub.ts';

/** Runs every task at once: as on a machine that is so busy that the time is over before anything else happens. */
const timer = (_: number, task: () => void) => {
  task();
  return { cancel: () => undefined };
};

async function connection() {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const client = createConnection({ ...(server.address() as { port: number }), host: '127.0.0.1' });
  const [socket] = await accepted;
  const close = () => {
    client.destroy();
    server.close();
  };
  return { socket, client, close };
}

/** Resolves with the output of `echo printed` for a client whose connection arrives before the command, or after its end. */
async function outputOfEcho(arrival: 'before' | 'after'): Promise<string> {
  const { socket, client, close } = await connection();
  let command: Command | undefined;
  const streams = { stdin: false, stdout: true, stderr: false };
  const exec = async (_: unknown, { command: words }: { command: readonly string[] }) => {
    const started = await startPlainCommand(words, { cwd: '/', env: { PATH: '/usr/bin:/bin' } }, streams);
    command = { ...started, resize: () => undefined };
    return command;
  };
  const context = { directory: '/', clock: { now: () => 0, timer }, executor: { exec } } as unknown as KeeperContext;
  const hub = new StreamHub();
  const engine = { runningContainer: () => undefined } as unknown as Engine;
  let sessions!: Sessions;
  const ended = new Promise<Parameters<Ended>[1]>((resolve) => {
    sessions = new Sessions(context, engine, hub, (_, result) => resolve(result));
  });
  const read = text(client);
  if (arrival === 'before') hub.arrive('s', 'stdout', socket);
  const request = { ...streams, tty: false, size: undefined, command: ['/bin/sh', '-c', 'echo printed'] };
  await sessions.exec('s', 'container', request);
  await command!.exitCode;
  if (arrival === 'after') {
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    hub.arrive('s', 'stdout', socket);
  }
  expect(await ended).toEqual({ exitCode: 0 });
  const output = await read;
  close();
  return output;
}

test.skipIf(process.platform !== 'linux').each(['before', 'after'] as const)(
  'what a command has printed arrives at a client that connects %s its end, however late',
  async (arrival) => {
    expect(await outputOfEcho(arrival)).toBe('printed\n');
  },
);

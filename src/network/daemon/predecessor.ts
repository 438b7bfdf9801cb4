/** Side of a daemon that is replaced: it starts the other one, hands its sockets over, and finishes its requests. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Listening } from '../../base/sockets/listening.ts';
import type { Door } from './calls.ts';
import type { Doors } from './doors.ts';
import { channelTo, sendByHeir, type ToHeir, type ToPredecessor } from './handover.ts';

interface PredecessorOptions {
  readonly command: readonly string[];
  readonly doors: Doors;
  /** Called when the heir is complete, with a function that releases the rest. */
  readonly onComplete: (release: () => Promise<void>) => void;
}

/** Resolves with the socket of the heir. Rejects when it ends before. */
export async function startHeir({ command, doors, onComplete }: PredecessorOptions): Promise<string> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { cwd: '/', detached: true, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const channel = channelTo<ToHeir, ToPredecessor>(child);
  const ready = new Promise<string>((resolve) => {
    channel.onMessage((message) => {
      switch (message.type) {
        case 'ready':
          resolve(message.socket);
          break;
        case 'take':
          channel.send({ type: 'door', door: message.door }, doors.listening(message.door)?.handle);
          break;
        case 'complete':
          onComplete(async () => {
            await release(doors, (door) => sendByHeir(channel, door));
            channel.close();
          });
      }
    });
  });
  channel.send({ type: 'doors', doors: doors.all });
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`the daemon that was to replace this one ended with code ${code}`);
  });
  failed.catch(() => undefined);
  child.unref();
  return Promise.race([ready, failed]);
}

async function release(doors: Doors, sendFrom: (door: Door) => Parameters<Listening['release']>[0]): Promise<void> {
  const all = doors.all.map((door) => ({ listening: doors.listening(door), send: sendFrom(door) }));
  doors.remove(() => true);
  await Promise.all(all.map(({ listening, send }) => listening?.release(send)));
}

import { createServer, type Server, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { silent } from '../../base/log.ts';
import { SeededRandom } from '../../base/random.ts';
import { answerCalls } from '../../base/sockets/keyed-socket/calls.ts';
import { listenAt, makeKey, onOpening } from '../../base/sockets/keyed-socket/keyed-socket.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import { AttachedDaemon } from './attached-daemon.ts';
import { daemonSocket } from './calls.ts';

const RELEASE = 'a';
const settings = {
  dns: { domain: 'cluster.local', ranges: [], serviceAddress: undefined, clients: [], upstream: [] },
  allowedDialRanges: [],
};

let directory: string;
let server: Server;
let sockets: Socket[];
let begins: number;
/** Whether it ends when a session begins. */
let isBroken: boolean;
/** True while another program has its port. */
let isTaken: boolean;

beforeEach(async () => {
  directory = temporaryDirectory();
  [sockets, begins, isBroken, isTaken] = [[], 0, false, false];
  const key = makeKey(daemonSocket(directory), new SeededRandom(1));
  server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    onOpening(socket, key, () => {
      answerCalls(socket, {
        facts: async () => ({ release: RELEASE, handover: 0, pid: 1 }),
        async begin() {
          begins++;
          if (isBroken) socket.destroy();
        },
        async listen({ port }: { port: number }) {
          if (isTaken) throw new Error('EADDRINUSE');
          return port;
        },
        allow: async () => undefined,
        rules: async () => undefined,
      });
    });
  });
  await listenAt(server, daemonSocket(directory));
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

test('a daemon that ends again and again is started by one attempt after the other', async () => {
  const clock = new ControlledClock();
  const command = ['/bin/false'];
  const tools = { clock, random: new SeededRandom(1), log: silent };
  const attached = await AttachedDaemon.open({ ...tools, directory, command, release: RELEASE, settings });
  isBroken = true;
  sockets[0]!.destroy();
  // The delays grow up to half a minute: it is the number of loops that would grow with each failure.
  for (const until = clock.now() + 300_000; clock.now() < until; ) {
    await clock.advance(1_000);
    for (let i = 0; i < 50; i++) await turn();
  }
  // A busy machine makes fewer.
  expect(begins).toBeGreaterThan(1);
  expect(begins).toBeLessThan(30);
  attached.leave();
});

test('a daemon whose port another program took says so, and says when it has it again', async () => {
  const clock = new ControlledClock();
  const tools = { clock, random: new SeededRandom(1), log: silent };
  const command = ['/bin/false'];
  const attached = await AttachedDaemon.open({ ...tools, directory, command, release: RELEASE, settings });
  const seen: boolean[] = [];
  attached.onListening((isListening) => seen.push(isListening));
  await attached.listen({ kinds: ['dns-udp'], address: '127.0.0.1', port: 53 });
  const until = async (done: () => boolean) => {
    while (!done()) {
      await clock.advance(1_000);
      for (let i = 0; i < 50; i++) await turn();
    }
  };
  isTaken = true;
  sockets[0]!.destroy();
  await until(() => seen.length > 0);
  const tried = begins;
  await until(() => begins > tried);
  expect(seen).toEqual([false]);
  isTaken = false;
  await until(() => seen.length > 1);
  expect(seen).toEqual([false, true]);
  attached.leave();
});

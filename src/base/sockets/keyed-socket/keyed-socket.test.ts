import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { withResolvers } from '../../event-loop/with-resolvers.ts';
import { systemRandom } from '../../random.ts';
import { answerCalls, Caller } from './calls.ts';
import { connectWithKey, type KeyedSocketNames, listenAt, makeKey, onOpening } from './keyed-socket.ts';

interface Calls {
  double(params: { value: number }): Promise<number>;
  fail(params: object): Promise<void>;
}

const CALLS: Calls = {
  double: async ({ value }) => value * 2,
  fail: async () => Promise.reject(Object.assign(new Error('no room'), { code: 'ENOSPC' })),
};

let names: KeyedSocketNames;
let server: Server;
let closed: number;

beforeEach(async () => {
  names = { directory: await mkdtemp(join(tmpdir(), 'qd-keyed-')), socket: 's', key: 'k' };
  const key = makeKey(names, systemRandom);
  closed = 0;
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('close', () => closed++);
    onOpening(socket, key, () => answerCalls(socket, CALLS));
  });
  await listenAt(server, names);
});

afterEach(async () => {
  server.close();
  await rm(names.directory, { recursive: true, force: true });
});

const open = async () =>
  new Caller<Calls>(
    await connectWithKey(names, {}),
    () => undefined,
    () => undefined,
  );

async function untilClosed(socket: Socket): Promise<void> {
  socket.resume();
  await once(socket, 'close');
}

it('serves clients that have the key, with results and errors', async () => {
  const caller = await open();
  expect(await Promise.all([1, 2, 3].map((value) => caller.call('double', { value })))).toEqual([2, 4, 6]);
  await expect(caller.call('fail', {})).rejects.toMatchObject({ message: 'no room', code: 'ENOSPC' });
  await expect(caller.call('toString' as 'fail', {})).rejects.toThrow('there is no call toString');
  caller.close();
  await expect(caller.call('double', { value: 1 })).rejects.toThrow('lost');
});

it('hides the socket and the key from other users', async () => {
  for (const name of [names.socket, names.key]) {
    expect((await stat(join(names.directory, name))).mode & 0o777).toBe(0o600);
  }
});

it.each([
  ['another key', `{"key":"${'0'.repeat(64)}"}\n`],
  ['no key', '{}\n'],
  ['a key that is no text', '{"key":{"length":64}}\n'],
  ['something else', 'GET / HTTP/1.1\r\n\r\n'],
  ['a value that is no object', 'null\n'],
  ['a line without end', 'x'.repeat(100_000)],
])('closes a connection that begins with %s', async (_, text) => {
  const socket = connect(join(names.directory, names.socket));
  socket.on('error', () => undefined);
  socket.write(text);
  await untilClosed(socket);
  const caller = await open();
  expect(await caller.call('double', { value: 4 })).toBe(8);
  caller.close();
});

it.each(['{"id":1,"method":"dou', '{"id":1,"method"\n', '[\n', '7\n'])('survives the message %j', async (text) => {
  const socket = await connectWithKey(names, {});
  socket.on('error', () => undefined);
  socket.end(text);
  await untilClosed(socket);
  const caller = await open();
  expect(await caller.call('double', { value: 4 })).toBe(8);
  caller.close();
});

it('replaces the file at the path, and rejects unknown methods', async () => {
  server.close();
  await rm(join(names.directory, names.socket));
  await writeFile(join(names.directory, names.socket), 'not a socket');
  await expect(open()).rejects.toThrow();
  await listenAt(server, names);
  const caller = await open();
  expect(await caller.call('double', { value: 2 })).toBe(4);
  caller.close();
});

it('rejects pending calls when the other end closes', async () => {
  server.removeAllListeners('connection').on('connection', (socket) => socket.once('data', () => socket.destroy()));
  const { promise: lost, resolve: markLost } = withResolvers<void>();
  const caller = new Caller<Calls>(
    await connectWithKey(names, {}),
    () => undefined,
    () => markLost(),
  );
  await expect(caller.call('double', { value: 1 })).rejects.toThrow('lost');
  await lost;
});

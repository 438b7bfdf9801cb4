import { EventEmitter, once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ApiError } from '../../../api/errors.ts';
import { withResolvers } from '../../../base/event-loop/with-resolvers.ts';
import { silent } from '../../../base/log.ts';
import { type Random, SeededRandom } from '../../../base/random.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import type { Request, WatchStream } from '../transport.ts';
import { type FailoverTransport, failoverTransport } from './failover-transport.ts';
import type { ServerTransport } from './used-server.ts';

type State = 'ready' | 'unready' | 'refusing' | 'silent' | 'slow' | 'stalled';

const [A, B, C] = ['https://a:6443', 'https://b:6443', 'https://c:6443'] as const;
const GET: Request = { verb: 'get', apiVersion: 'v1', plural: 'pods', name: 'a' };
const CREATE: Request = { verb: 'create', apiVersion: 'v1', plural: 'pods' };
const WATCH: Request = { verb: 'watch', apiVersion: 'v1', plural: 'pods' };

/** Servers are preferred in the order of their names, and delays are the shortest. */
const inOrder = (): Random => {
  const weights = [3, 2, 1];
  return { ...new SeededRandom(1), bytes: Buffer.alloc, int: () => weights.shift() ?? 0 };
};

let clock: ControlledClock;
let states: Map<string, State>;
/** Servers with open connections. */
let open: string[];
/** The last connection to each server. */
let connections: Map<string, EventEmitter>;
/** What calls on slow servers wait for. */
let slowAnswer: Promise<void>;
let transport: FailoverTransport;
beforeEach(() => {
  clock = new ControlledClock();
  states = new Map([A, B, C].map((server) => [server, 'ready']));
  open = [];
  connections = new Map();
  transport = newTransport();
  transport.use([A, B, C]);
});
afterEach(() => transport.close());

function newTransport({ given = A as string, random = inOrder(), known = [] as readonly string[] } = {}) {
  return failoverTransport({ given, known, identity: {}, connect, clock, random, log: silent });
}

function connect(server: string): ServerTransport {
  open.push(server);
  const hanging = new Set<(error: Error) => void>();
  const breaking = new EventEmitter();
  connections.set(server, breaking);
  const answer = <T>(value: T, timeoutMs?: number): Promise<T> => {
    const state = states.get(server);
    if (state === 'refusing') return Promise.reject(lost('ECONNREFUSED'));
    if (state === 'slow' && timeoutMs === undefined) return slowAnswer.then(() => value);
    if (state !== 'silent') return Promise.resolve(value);
    return new Promise((_, reject) => {
      hanging.add(reject);
      if (timeoutMs !== undefined) clock.timer(timeoutMs, () => reject(new ApiError('Timeout', 'no answer')));
    });
  };
  return {
    call: () => answer({ type: 'object', object: { metadata: { name: server } } } as never),
    watch: () => answer(streamOf(breaking)),
    ready(timeoutMs, asked) {
      const failure = new Error('not ready');
      if (states.get(server) === 'unready') return Promise.reject(failure);
      // Its store does not answer.
      if (states.get(server) !== 'stalled' || asked) return answer(undefined, timeoutMs);
      return new Promise((_, reject) => clock.timer(Math.min(timeoutMs, 2_000), () => reject(failure)));
    },
    renew: () => undefined,
    close() {
      open.splice(open.indexOf(server), 1);
      for (const reject of hanging) reject(lost('ECONNRESET'));
    },
  };
}

/** A stream without events, which ends when it is closed, and throws when the connection breaks. */
function streamOf(connection: EventEmitter): WatchStream {
  const closed = new AbortController();
  return {
    close: () => closed.abort(),
    async *[Symbol.asyncIterator]() {
      await once(connection, 'broken', { signal: closed.signal }).then(
        () => Promise.reject(lost('ECONNRESET')),
        () => undefined,
      );
    },
  };
}

const lost = (code: string) =>
  new ApiError('ServiceUnavailable', code, { cause: Object.assign(new Error(code), { code }) });

async function consumed(stream: WatchStream): Promise<void> {
  for await (const _ of stream);
}

const answering = async () => {
  const answer = await transport.call(GET);
  return answer.type === 'object' ? answer.object.metadata.name : undefined;
};

test('a server that answers is used', async () => {
  await clock.advance(60_000);
  expect(await answering()).toBe(A);
  expect(open).toEqual([A]);
});

test('a call that no server has seen goes to another one at once', async () => {
  states.set(A, 'refusing');
  states.set(C, 'refusing');
  expect(await answering()).toBe(B);
  expect(open).toEqual([B]);
});

test('writes on a server that is silent end within three seconds, reads and all that follows go to another', async () => {
  states.set(A, 'silent');
  const [writing, reading] = [expect(transport.call(CREATE)).rejects.toThrow('ECONNRESET'), answering()];
  await clock.advance(2_500);
  await writing;
  expect(await reading).toBe(B);
  expect(await answering()).toBe(B);
  expect(open).toEqual([B]);
});

test('watches end as if their server had ended them when another one is used', async () => {
  const ended = consumed(await transport.watch(WATCH));
  states.set(A, 'refusing');
  connections.get(A)!.emit('broken');
  await ended;
  expect(transport.server).toBe(B);

  const next = consumed(await transport.watch(WATCH));
  states.set(B, 'silent');
  await clock.advance(2_500);
  await next;
  expect(transport.server).toBe(C);
});

test('a watch breaks when its connection does and the server is there', async () => {
  const broken = expect(consumed(await transport.watch(WATCH))).rejects.toThrow('ECONNRESET');
  connections.get(A)!.emit('broken');
  await broken;
  expect(transport.server).toBe(A);
});

test.each(['unready', 'stalled'] as const)('a server that is %s is left when that lasts', async (state) => {
  states.set(A, state);
  await clock.advance(4_500);
  states.set(A, 'ready');
  await clock.advance(4_000);
  states.set(A, state);
  await clock.advance(4_500);
  expect(transport.server).toBe(A);
  await clock.advance(5_000);
  expect(transport.server).toBe(B);
});

test('the server stays when no other one is better, and its connections with it', async () => {
  for (const each of [A, B, C]) states.set(each, 'unready');
  await clock.advance(10_000);
  expect(transport.server).toBe(A);
  expect(open).toEqual([A]);
});

test('servers that are added later are used', async () => {
  transport.use([A]);
  states.set(A, 'refusing');
  await expect(transport.call(GET)).rejects.toThrow('ECONNREFUSED');
  transport.use([C]);
  expect(await answering()).toBe(C);
});

test('an error of the API is no reason to look for another server', async () => {
  const failing = failoverTransport({
    ...{ given: A, known: [A, B], identity: {}, clock, random: inOrder(), log: silent },
    connect: (server) => ({ ...connect(server), call: () => Promise.reject(new ApiError('NotFound', 'none')) }),
  });
  await expect(failing.call(GET)).rejects.toThrow('none');
  expect(failing.server).toBe(A);
  failing.close();
});

test('a better server is used again some time after it has come back, and calls that run end where they are', async () => {
  states.set(A, 'refusing');
  await clock.advance(1_000);
  expect(transport.server).toBe(B);
  states.set(A, 'ready');
  await clock.advance(8_000);
  expect(transport.server).toBe(B);
  const ended = consumed(await transport.watch(WATCH));
  const { promise: answer, resolve: finish } = withResolvers<void>();
  states.set(B, 'slow');
  slowAnswer = answer;
  const calling = answering();
  await clock.advance(2_000);
  expect(transport.server).toBe(A);
  await ended;
  expect(open).toEqual([B, A]);
  finish();
  expect(await calling).toBe(B);
  expect(open).toEqual([A]);
});

test('the URL that the client was given is used while no server is ready, and not with others', async () => {
  const balancer = 'https://balancer:6443';
  states.set(balancer, 'ready');
  const other = newTransport({ given: balancer });
  expect(other.server).toBe(balancer);
  other.use([A, B]);
  await clock.advance(1_000);
  expect(other.server).toBe(A);
  for (const each of [A, B]) states.set(each, 'refusing');
  await clock.advance(1_000);
  expect(other.server).toBe(balancer);
  other.close();
});

test('a closed transport asks no server any more', async () => {
  transport.close();
  states.set(A, 'refusing');
  await clock.advance(60_000);
  expect(open).toEqual([]);
});

describe('many clients', () => {
  const COUNT = 120;
  let clients: FailoverTransport[];
  beforeEach(() => {
    clients = Array.from({ length: COUNT }, (_, seed) => newTransport({ random: new SeededRandom(seed) }));
  });
  afterEach(() => {
    for (const each of clients) each.close();
  });

  const counts = () => [A, B, C].map((server) => clients.filter((each) => each.server === server).length);

  test('spread over the servers, spread over those that are left, and return one by one', async () => {
    expect(counts()).toEqual([COUNT, 0, 0]);
    for (const each of clients) each.use([A, B, C]);
    await clock.advance(1_000);
    const before = clients.map(({ server }) => server);
    for (const count of counts()) expect(Math.abs(count - COUNT / 3)).toBeLessThan(COUNT / 10);

    states.set(B, 'refusing');
    await clock.advance(1_000);
    const [a, b, c] = counts();
    expect(b).toBe(0);
    expect(Math.abs(a! - c!)).toBeLessThan(COUNT / 5);
    for (const [i, each] of clients.entries()) if (before[i] !== B) expect(each.server).toBe(before[i]);

    states.set(B, 'ready');
    let known = 0;
    const returned: number[] = [];
    for (let second = 0; second < 65; second++) {
      await clock.advance(1_000);
      returned.push(counts()[1]! - known);
      known = counts()[1]!;
    }
    expect(clients.map(({ server }) => server)).toEqual(before);
    expect(Math.max(...returned)).toBeLessThan(COUNT / 3 / 8);
  });
});

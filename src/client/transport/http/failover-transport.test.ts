import { afterEach, beforeEach, expect, test } from 'vitest';
import { ApiError } from '../../../api/errors.ts';
import { silent } from '../../../base/log.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import type { Request } from '../transport.ts';
import { type FailoverTransport, failoverTransport, type ServerTransport } from './failover-transport.ts';

type State = 'ready' | 'unready' | 'refusing' | 'silent';

const [A, B, C] = ['https://a:6443', 'https://b:6443', 'https://c:6443'] as const;
const GET: Request = { verb: 'get', apiVersion: 'v1', plural: 'pods', name: 'a' };

let clock: ControlledClock;
let states: Map<string, State>;
/** Servers with open connections. */
let open: string[];
let transport: FailoverTransport;
beforeEach(() => {
  clock = new ControlledClock();
  states = new Map([A, B, C].map((server) => [server, 'ready']));
  open = [];
  transport = failoverTransport({ servers: [A], identity: {}, connect, clock, log: silent });
  transport.use([A, B, C]);
});
afterEach(() => transport.close());

function connect(server: string): ServerTransport {
  open.push(server);
  const hanging = new Set<(error: Error) => void>();
  const answer = <T>(value: T, timeoutMs?: number): Promise<T> => {
    const state = states.get(server);
    if (state === 'refusing') return Promise.reject(lost('ECONNREFUSED'));
    if (state !== 'silent') return Promise.resolve(value);
    return new Promise((_, reject) => {
      hanging.add(reject);
      if (timeoutMs !== undefined) clock.timer(timeoutMs, () => reject(new ApiError('Timeout', 'no answer')));
    });
  };
  return {
    call: () => answer({ type: 'object', object: { metadata: { name: server } } } as never),
    watch: () => answer({} as never),
    ready: (timeoutMs) =>
      states.get(server) === 'unready' ? Promise.reject(new Error('not ready')) : answer(undefined, timeoutMs),
    renew: () => undefined,
    close() {
      open.splice(open.indexOf(server), 1);
      for (const reject of hanging) reject(lost('ECONNRESET'));
    },
  };
}

const lost = (code: string) =>
  new ApiError('ServiceUnavailable', code, { cause: Object.assign(new Error(code), { code }) });

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

test('calls on a server that is silent end within two seconds, and the next ones go to another', async () => {
  states.set(A, 'silent');
  const hanging = expect(transport.call(GET)).rejects.toThrow('ECONNRESET');
  await clock.advance(2_000);
  await hanging;
  expect(await answering()).toBe(B);
  expect(open).toEqual([B]);
});

test('a server that is not ready is left', async () => {
  states.set(A, 'unready');
  await clock.advance(1_000);
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
    ...{ servers: [A], identity: {}, clock, log: silent },
    connect: (server) => ({ ...connect(server), call: () => Promise.reject(new ApiError('NotFound', 'none')) }),
  });
  failing.use([A, B]);
  await expect(failing.call(GET)).rejects.toThrow('none');
  expect(failing.server).toBe(A);
  failing.close();
});

test('a closed transport asks no server any more', async () => {
  transport.close();
  states.set(A, 'refusing');
  await clock.advance(60_000);
  expect(open).toEqual([]);
});

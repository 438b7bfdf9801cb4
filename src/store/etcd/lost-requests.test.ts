import { once } from 'node:events';
import { createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ControlledClock } from '../../base/time/clock.ts';
import { prefixed } from '../../protocols/grpc/call.ts';
import { Connection } from './connection.ts';
import { methods } from './methods.ts';

let etcd: Awaited<ReturnType<typeof fakeMember>>;
let clock: ControlledClock;
let connection: Connection;

beforeEach(async () => {
  etcd = await fakeMember();
  clock = new ControlledClock();
  connection = new Connection({ endpoints: [etcd.url], clock, timeoutMilliseconds: 60_000 });
});

afterEach(() => {
  connection.close();
  etcd.close();
});

const request = () => connection.call(methods.range, { key: Buffer.from('k') });
const outcomeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'answered',
    (error) => String(error),
  );

/** Sends a request in a term, and another one, which waits for more than a second. */
async function waitingSince(term: number): Promise<Promise<string>> {
  etcd.answersInTerm = term;
  await request();
  etcd.answersInTerm = undefined;
  const outcome = outcomeOf(request());
  await etcd.untilWaiting();
  await clock.advance(1_000);
  return outcome;
}

/** Lets time pass until the member has said this many times more how it is. */
async function statuses(count: number): Promise<void> {
  for (const until = etcd.statuses + count; etcd.statuses < until; await turn()) await clock.advance(50);
}

test('a request is given up when its member follows another leader', async () => {
  const waiting = waitingSince(3);
  etcd.status = { leader: 9, term: 4 };
  await statuses(2);
  expect(await waiting).toContain('etcd lost a request when another member became its leader');
});

test('a request waits for a leader that is only slow', async () => {
  const waiting = waitingSince(3);
  etcd.status = { leader: 9, term: 3 };
  await statuses(4);
  etcd.answer(3);
  expect(await waiting).toBe('answered');
});

test('a request waits while there is no leader, and the next one answers it', async () => {
  const waiting = waitingSince(3);
  etcd.status = { leader: 0, term: 5 };
  await statuses(4);
  etcd.status = { leader: 9, term: 5 };
  await statuses(1);
  etcd.answer(5);
  expect(await waiting).toBe('answered');
});

test('requests that were sent to the present leader wait on', async () => {
  const waiting = waitingSince(5);
  etcd.status = { leader: 9, term: 5 };
  await statuses(4);
  await clock.advance(60_000);
  expect(await waiting).toContain('etcd did not answer within 60000 ms');
});

/** A member of etcd that says what a test has told it to, on Node's own HTTP/2. */
async function fakeMember() {
  const server = createServer();
  const waiting: ServerHttp2Stream[] = [];
  let onWaiting = () => {};
  const member = {
    url: '',
    statuses: 0,
    status: { leader: 9, term: 1 },
    answersInTerm: undefined as number | undefined,
    answer(term: number) {
      for (const stream of waiting.splice(0)) respond(stream, [...header(term)]);
    },
    untilWaiting: () =>
      new Promise<void>((resolve) => {
        onWaiting = resolve;
        if (waiting.length > 0) resolve();
      }),
    close: () => {
      for (const session of sessions) session.destroy();
      server.close();
    },
  };
  const sessions: { destroy(): void }[] = [];
  server.on('session', (session) => sessions.push(session));
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    if (headers[':path']?.endsWith('/Status')) {
      member.statuses++;
      respond(stream, [...header(1), 0x20, member.status.leader, 0x30, member.status.term]);
    } else if (member.answersInTerm !== undefined) {
      respond(stream, [...header(member.answersInTerm)]);
    } else {
      waiting.push(stream);
      onWaiting();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  member.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return member;
}

/** A header of a response, as protobuf. */
const header = (term: number) => [0x0a, 2, 0x20, term];

function respond(stream: ServerHttp2Stream, message: readonly number[]): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(prefixed(Buffer.from(message)));
}

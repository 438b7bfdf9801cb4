/** Tests against a hand-written peer; others are in client.test.ts. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { ControlledClock } from '../../base/time/clock.ts';
import {
  DEFAULT_WINDOW,
  Flag,
  FrameSplitter,
  FrameType,
  frame,
  PREFACE,
  Setting,
  settingsPayload,
  uint32,
} from './frames.ts';
import { encodeHeaders } from './hpack.ts';
import { Session, type SessionOptions, type StreamHandler } from './session.ts';
import { GrpcStatus } from './status.ts';

interface Heard {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const NOTHING: Buffer = Buffer.alloc(0);
const request = frame({ type: FrameType.HEADERS, flags: Flag.END_HEADERS }, encodeHeaders([[':method', 'POST']]));

/** A session, and the peer's end of its connection. */
async function playing(options: Partial<SessionOptions> = {}) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [peer] = (await once(server, 'connection')) as [Socket];
  const heard: Heard[] = [];
  const splitter = new FrameSplitter();
  let skipped = 0;
  peer
    .on('error', () => {})
    .on('data', (chunk: Buffer) => {
      const rest = chunk.subarray(Math.min(chunk.length, PREFACE.length - skipped));
      skipped += chunk.length - rest.length;
      splitter.push(rest, { frame: (type, flags, stream, payload) => heard.push({ type, flags, stream, payload }) });
    });
  const session = new Session(socket, { clock: new ControlledClock(), ...options });
  session.ready.catch(() => {});
  closing.push(() => {
    session.close();
    server.close();
    peer.destroy();
  });
  const say = (type: number, payload = NOTHING, head: { flags?: number; stream?: number } = {}) =>
    peer.write(frame({ type, ...head }, payload));
  const hear = (type: number) => expect.poll(() => heard.find((each) => each.type === type)).toBeDefined();
  return { session, say, hear, heard, peer };
}

/** A handler that records the events of a stream. */
function noting(): StreamHandler & { readonly notes: unknown[] } {
  const notes: unknown[] = [];
  return {
    notes,
    headers: (headers, last) => notes.push(Object.fromEntries(headers), last),
    data: (payload, last) => notes.push(String(payload), last),
    failed: ({ code, message }) => notes.push(code, message),
  };
}

it('a session joins headers that arrive in pieces', async () => {
  const { session, say } = await playing();
  say(FrameType.SETTINGS);
  await session.ready;
  const handler = noting();
  session.open(request, handler).send(NOTHING, true);
  const block = encodeHeaders([['name', 'value']]);
  say(FrameType.HEADERS, block.subarray(0, 3), { flags: Flag.END_STREAM, stream: 1 });
  say(FrameType.CONTINUATION, block.subarray(3, 5), { stream: 1 });
  say(FrameType.CONTINUATION, block.subarray(5), { flags: Flag.END_HEADERS, stream: 1 });
  await expect.poll(() => handler.notes).toEqual([{ name: 'value' }, true]);
});

it.each([
  ['headers that are interrupted', FrameType.HEADERS, NOTHING, { stream: 1 }],
  ['a stream that is pushed', FrameType.PUSH_PROMISE, NOTHING, { stream: 1 }],
  ['headers that go on without having begun', FrameType.CONTINUATION, NOTHING, { stream: 1 }],
  ['headers in an unknown code', FrameType.HEADERS, Buffer.from([0xff]), { stream: 1, flags: Flag.END_HEADERS }],
  ['settings that are cut off', FrameType.SETTINGS, Buffer.from([1]), {}],
  ['a window that is too large', FrameType.SETTINGS, settingsPayload([[Setting.INITIAL_WINDOW_SIZE, 2 ** 31]]), {}],
  ['a code that is cut off', FrameType.RST_STREAM, Buffer.from([1]), { stream: 1 }],
  ['frames without bytes', FrameType.SETTINGS, settingsPayload([[Setting.MAX_FRAME_SIZE, 0]]), {}],
  ['frames that are too large', FrameType.SETTINGS, settingsPayload([[Setting.MAX_FRAME_SIZE, 2 ** 24]]), {}],
  ['a ping of another length', FrameType.PING, Buffer.alloc(16_384), {}],
])('a session ends on %s, and reports the reason', async (_, type, payload, head) => {
  const { session, say, hear } = await playing();
  say(FrameType.SETTINGS);
  await session.ready;
  const handler = noting();
  session.open(request, handler);
  say(type, payload, head);
  say(FrameType.PING, Buffer.alloc(8));
  await hear(FrameType.GOAWAY);
  expect(handler.notes[0]).toBe(GrpcStatus.UNAVAILABLE);
  expect(session.isClosed).toBe(true);
});

it('a session ends on headers that continue in empty frames without end', async () => {
  const { session, say, hear, peer } = await playing();
  say(FrameType.SETTINGS);
  await session.ready;
  session.open(request, noting());
  say(FrameType.HEADERS, NOTHING, { stream: 1 });
  const empty = frame({ type: FrameType.CONTINUATION, stream: 1 }, NOTHING);
  peer.write(Buffer.concat(Array.from({ length: 30_000 }, () => empty)));
  await hear(FrameType.GOAWAY);
  expect(session.isClosed).toBe(true);
});

it('a session ends when the peer sends pings and does not read the answers', async () => {
  const { session, say, peer } = await playing();
  say(FrameType.SETTINGS);
  await session.ready;
  session.open(request, noting());
  peer.pause();
  const pings = Buffer.concat(Array.from({ length: 10_000 }, () => frame({ type: FrameType.PING }, Buffer.alloc(8))));
  for (let sent = 0; sent < 1_000 && !session.isClosed && !peer.destroyed; sent++) {
    await new Promise<void>((resolve) => peer.write(pings, () => resolve()));
  }
  await expect.poll(() => session.isClosed).toBe(true);
});

it('a session ignores unknown frames, and streams that have ended', async () => {
  const { session, say, hear } = await playing();
  say(FrameType.SETTINGS);
  await session.ready;
  const handler = noting();
  session.open(request, handler).cancel();
  say(99, Buffer.from('x'));
  say(FrameType.DATA, Buffer.from('x'), { stream: 1 });
  say(FrameType.WINDOW_UPDATE, uint32(5), { stream: 1 });
  say(FrameType.PING, Buffer.from('abcdefgh'));
  await hear(FrameType.PING);
  expect(handler.notes).toEqual([]);
  expect(session.isClosed).toBe(false);
});

it("a session sends only what the peer's window allows, and the rest when it opens", async () => {
  const { session, say, heard } = await playing();
  say(FrameType.SETTINGS, settingsPayload([[Setting.INITIAL_WINDOW_SIZE, 4]]));
  await session.ready;
  const stream = session.open(request, noting());
  stream.send(Buffer.from('abcdef'), false);
  stream.send(Buffer.from('ghi'), true);
  const sent = () => heard.filter(({ type }) => type === FrameType.DATA).map(({ payload }) => String(payload));
  await expect.poll(sent).toEqual(['abcd']);
  say(FrameType.SETTINGS, settingsPayload([[Setting.INITIAL_WINDOW_SIZE, 5]]));
  await expect.poll(sent).toEqual(['abcd', 'e']);
  say(FrameType.SETTINGS, settingsPayload([[Setting.INITIAL_WINDOW_SIZE, 3]]));
  say(FrameType.WINDOW_UPDATE, uint32(4), { stream: 1 });
  await expect.poll(sent).toEqual(['abcd', 'e', 'f', 'g']);
  say(FrameType.WINDOW_UPDATE, uint32(9), { stream: 1 });
  await expect.poll(sent).toEqual(['abcd', 'e', 'f', 'g', 'hi']);
  expect(heard.at(-1)).toMatchObject({ type: FrameType.DATA, flags: Flag.END_STREAM });
});

it('a session limits the data of all streams together', async () => {
  const { session, say, heard } = await playing();
  say(FrameType.SETTINGS, settingsPayload([[Setting.INITIAL_WINDOW_SIZE, 2 ** 20]]));
  await session.ready;
  for (let i = 0; i < 3; i++) session.open(request, noting()).send(Buffer.alloc(30_000), true);
  const sent = () =>
    heard.reduce((sum, { type, payload }) => (type === FrameType.DATA ? sum + payload.length : sum), 0);
  await expect.poll(sent).toBe(DEFAULT_WINDOW);
  say(FrameType.WINDOW_UPDATE, uint32(20_000), { stream: 5 });
  say(FrameType.WINDOW_UPDATE, uint32(10_000));
  await expect.poll(sent).toBe(DEFAULT_WINDOW + 10_000);
  say(FrameType.WINDOW_UPDATE, uint32(2 ** 20));
  await expect.poll(sent).toBe(90_000);
});

it('a session fails the streams that a peer has not processed before GOAWAY', async () => {
  const { session, say } = await playing();
  say(FrameType.SETTINGS, settingsPayload([[Setting.MAX_CONCURRENT_STREAMS, 2]]));
  await session.ready;
  const handlers = [noting(), noting(), noting()] as const;
  for (const handler of handlers) session.open(request, handler).send(NOTHING, true);
  say(FrameType.GOAWAY, Buffer.concat([uint32(1), uint32(0)]));
  const gone = [GrpcStatus.UNAVAILABLE, 'the other side is going away'];
  await expect.poll(() => handlers.map(({ notes }) => notes)).toEqual([[], gone, gone]);
  expect(session.isClosed).toBe(false);
  say(FrameType.DATA, Buffer.from('x'), { stream: 1, flags: Flag.END_STREAM });
  await expect.poll(() => session.isClosed).toBe(true);
  expect(handlers[0].notes).toEqual(['x', true]);
});

it('a session opens no more streams when the stream ids are used up', async () => {
  const { session, say } = await playing({ lastStream: 3 });
  say(FrameType.SETTINGS);
  await session.ready;
  const handlers = [noting(), noting()] as const;
  session.open(request, handlers[0]).send(NOTHING, true);
  expect(session.isOpen).toBe(true);
  session.open(request, handlers[1]).send(NOTHING, true);
  expect(session.isOpen).toBe(false);
  for (const stream of [1, 3]) say(FrameType.DATA, Buffer.from('x'), { stream, flags: Flag.END_STREAM });
  await expect
    .poll(() => handlers.map(({ notes }) => notes))
    .toEqual([
      ['x', true],
      ['x', true],
    ]);
  expect(session.isClosed).toBe(true);
});

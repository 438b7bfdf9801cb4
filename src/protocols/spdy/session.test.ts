import { once } from 'node:events';
import { createServer, connect as dial, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { constants, deflateSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { fc, forAll, forAllAsync } from '../../../test/support/property-runs.ts';
import { withResolvers } from '../../base/event-loop/with-resolvers.ts';
import { StreamResetError } from './errors.ts';
import { FrameParser } from './frame-parser.ts';
import { dataHead, FrameType, initialWindow, ping, ResetCode, rstStream, synStream, windowUpdate } from './frames.ts';
import { headerDictionary } from './header-inflater.ts';
import { decodeHeaders, encodeHeaders } from './headers.ts';
import { MAX_SESSION_BUFFERED_BYTES, SpdySession, type SpdySessionOptions } from './session.ts';
import { MAX_BUFFERED_BYTES, type SpdyStream } from './stream.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Both ends of a connection over loopback. */
async function sockets(): Promise<[Socket, Socket]> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = dial({ port: (server.address() as { port: number }).port, host: '127.0.0.1', allowHalfOpen: true });
  const [accepted] = (await once(server, 'connection')) as [Socket];
  closing.push(
    () => server.close(),
    () => client.destroy(),
    () => accepted.destroy(),
  );
  return [client, accepted];
}

type Options = Omit<SpdySessionOptions, 'role'>;

async function sessions(server: Options, client: Options = {}): Promise<{ client: SpdySession; server: SpdySession }> {
  const [near, far] = await sockets();
  return {
    client: new SpdySession(near, { role: 'client', ...client }),
    server: new SpdySession(far, { role: 'server', ...server }),
  };
}

/** A server that sends back what it receives. */
const echo: Options = {
  onStream(stream) {
    stream.accept({ answered: stream.headers.name ?? '' });
    stream.pipe(stream);
  },
};

/** A server session whose peer is written by hand. */
async function raw(options: Options): Promise<{ peer: Socket; server: SpdySession }> {
  const [peer, far] = await sockets();
  return { peer, server: new SpdySession(far, { role: 'server', ...options }) };
}

/** The frames that a peer written by hand has received until the connection ended. */
async function framesOf(peer: Socket) {
  return [...new FrameParser().push(await buffer(peer))];
}

describe('streams', () => {
  it('carry bytes in both directions, many at a time', async () => {
    const { client } = await sessions(echo);
    await forAllAsync(
      { numRuns: 25 },
      fc.array(fc.array(fc.uint8Array({ maxLength: 70_000 })), { maxLength: 5 }),
      async (bodies) => {
        const echoed = bodies.map(async (chunks, index) => {
          const stream = client.open({ name: `stream ${index}` });
          for (const chunk of chunks) stream.write(chunk);
          stream.end();
          return [await stream.accepted, await buffer(stream)];
        });
        const expected = bodies.map((chunks, index) => [{ answered: `stream ${index}` }, Buffer.concat(chunks)]);
        expect(await Promise.all(echoed)).toEqual(expected);
      },
    );
  });

  it('end in one direction before the other', async () => {
    let received = '';
    const { client } = await sessions({
      async onStream(stream) {
        stream.accept();
        for await (const bytes of stream.iterator({ destroyOnReturn: false })) received += bytes;
        stream.end(`${received.length} bytes`);
      },
    });
    const stream = client.open({});
    stream.end('hello');
    expect(await text(stream)).toBe('5 bytes');
    expect(received).toBe('hello');
  });

  it('end after the received data when the peer resets them, and discard writes', async () => {
    const { client } = await sessions({
      onStream(stream) {
        stream.accept();
        stream.write('output', () => stream.reset(ResetCode.cancel));
      },
    });
    const stream = client.open({});
    expect(await text(stream)).toBe('output');
    expect(stream.resetCode).toBe(ResetCode.cancel);
    await new Promise((resolve) => stream.write('ignored', resolve));
  });

  it('reject when they are refused', async () => {
    const { client } = await sessions({});
    await expect(client.open({}).accepted).rejects.toMatchObject({ resetCode: ResetCode.refusedStream });
  });

  it('end at the peer when they are destroyed', async () => {
    const opened = withResolvers<SpdyStream>();
    const { client } = await sessions({ onStream: (stream) => opened.resolve(stream) });
    const stream = client.open({});
    const far = await opened.promise;
    stream.destroy();
    far.resume();
    await once(far, 'end');
    expect(far.resetCode).toBe(ResetCode.cancel);
  });

  it('fail when the connection is lost', async () => {
    const opened = withResolvers<SpdyStream>();
    const { client, server } = await sessions({ onStream: (stream) => opened.resolve(stream) });
    const stream = client.open({});
    const failed = once(stream, 'error');
    await opened.promise;
    server.destroy();
    expect((await failed)[0]).toBeInstanceOf(StreamResetError);
    await client.closed;
    expect((await once(client.open({}), 'error'))[0]).toBeInstanceOf(StreamResetError);
  });

  it('are limited in number', async () => {
    const { client } = await sessions({ ...echo, maxStreams: 2 });
    const first = client.open({ name: '1' });
    client.open({ name: '2' });
    await expect(client.open({}).accepted).rejects.toMatchObject({ resetCode: ResetCode.refusedStream });
    first.end();
    await buffer(first);
    expect(await client.open({ name: '4' }).accepted).toEqual({ answered: '4' });
  });
});

describe('a session', () => {
  it('answers pings', async () => {
    const { client, server } = await sessions({});
    const answers = await Promise.all([client.ping(), server.ping(), client.ping()]);
    expect(answers).toHaveLength(3);
  });

  it('resets its streams and ends the connection when it is closed', async () => {
    const opened = withResolvers<SpdyStream>();
    const { client, server } = await sessions({ onStream: (stream) => opened.resolve(stream) });
    const stream = client.open({});
    (await opened.promise).write('last words');
    server.close();
    expect(await text(stream)).toBe('last words');
    client.close();
    expect(await Promise.all([client.closed, server.closed])).toEqual([undefined, undefined]);
  });

  it('decodes headers compressed with the dictionary in one zlib stream', async () => {
    const opened: SpdyStream[] = [];
    const twoOpened = withResolvers<void>();
    const { peer } = await raw({
      onStream(stream) {
        opened.push(stream);
        if (opened.length === 2) twoOpened.resolve();
      },
    });
    const options = { dictionary: headerDictionary(), finishFlush: constants.Z_SYNC_FLUSH };
    const block = (name: string) =>
      encodeHeaders({ streamtype: name, 'content-type': 'text/plain' }, false).subarray(5, -5);
    const both = [block('stdin'), block('stdout')];
    const whole = deflateSync(Buffer.concat(both), options);
    const first = deflateSync(both[0]!, options);
    expect(whole.length).toBeLessThan(Buffer.concat(both).length);
    peer.write(synStream(1, first));
    // A zlib stream may be continued with any deflate block.
    peer.write(synStream(3, encodeHeaders({ streamtype: 'stdout' }, false)));
    await twoOpened.promise;
    expect(opened.map(({ headers }) => ({ ...headers }))).toEqual([
      { streamtype: 'stdin', 'content-type': 'text/plain' },
      { streamtype: 'stdout' },
    ]);
  });

  it.each([
    ['another version', Buffer.from([0x80, 2, 0, 1, 0, 0, 0, 0])],
    ['a huge control frame', Buffer.from([0x80, 3, 0, 1, 0, 0xff, 0xff, 0xff])],
    ['a stream with an id of ours', synStream(2, encodeHeaders({}, true))],
    ['a truncated frame', Buffer.from([0x80, 3, 0, 3, 0, 0, 0, 2, 0, 0])],
    ['headers that cannot be inflated', synStream(1, Buffer.from('nonsense'))],
    ['headers that inflate to too much', synStream(1, deflateSync(Buffer.alloc(10_000_000)))],
    ['headers that end early', synStream(1, Buffer.from([0x78, 1, 0, 4, 0, 0xfb, 0xff, 0, 0, 0, 9]))],
  ])('ends at %s', async (_, bytes) => {
    const { peer, server } = await raw(echo);
    peer.write(bytes);
    const failure = await server.closed;
    expect(failure?.name).toBe('SpdyError');
    const frames = await framesOf(peer);
    expect(frames.at(-1)).toMatchObject({ kind: 'control', type: FrameType.goAway });
  });

  it('drops a peer that pings and does not read', async () => {
    const { peer, server } = await raw(echo);
    const pings = Buffer.concat(Array.from({ length: 10_000 }, () => ping(1)));
    const flood = () => {
      while (!peer.destroyed && peer.write(pings));
    };
    peer.on('drain', flood).on('error', () => undefined);
    flood();
    expect(await server.closed).toMatchObject({ name: 'SpdyError', message: 'the peer does not read' });
  });

  it('drops a peer that does not read the resets of its streams', async () => {
    const unread = new Duplex({ read: () => undefined, write: () => undefined });
    const server = new SpdySession(unread, {
      role: 'server',
      onStream: (stream) => stream.reset(ResetCode.protocolError),
    });
    for (let i = 0; i < 6_000; i++) unread.push(synStream(2 * i + 1, encodeHeaders({}, i === 0)));
    expect(await server.closed).toMatchObject({ name: 'SpdyError', message: 'the peer does not read' });
  });

  it('uses the last of many windows in one frame', async () => {
    const { peer, server } = await raw({});
    let changes = 0;
    const streams = Array.from({ length: 100 }, () => server.open({}));
    for (const stream of streams) {
      let window = stream.sendWindow;
      Object.defineProperty(stream, 'sendWindow', {
        get: () => window,
        set: (value: number) => {
          changes++;
          window = value;
        },
      });
    }
    const count = 8_000;
    const frame = Buffer.alloc(8 + 4 + count * 8);
    frame.writeUInt32BE(0x8003_0004, 0);
    frame.writeUIntBE(frame.length - 8, 5, 3);
    frame.writeUInt32BE(count, 8);
    for (let i = 0; i < count; i++) {
      frame.writeUInt32BE(7, 12 + i * 8);
      frame.writeUInt32BE(i, 16 + i * 8);
    }
    peer.end(frame);
    await server.closed;
    expect(streams[0]!.sendWindow).toBe(count - 1);
    expect(changes).toBe(100);
  });

  it('survives arbitrary bytes', async () => {
    await forAllAsync({ numRuns: 200 }, fc.array(hostileFrame(), { maxLength: 20 }), async (frames) => {
      const { peer, server } = await raw({
        onStream(stream) {
          stream.accept();
          stream.pipe(stream);
        },
      });
      peer.on('error', () => undefined).resume();
      peer.end(Buffer.concat(frames));
      const failure = await server.closed;
      expect(failure === undefined || failure.name === 'SpdyError').toBe(true);
    });
  });
});

function hostileFrame(): fc.Arbitrary<Buffer> {
  const id = fc.nat({ max: 6 });
  const bytes = fc.uint8Array({ maxLength: 40 }).map((each) => Buffer.from(each));
  return fc.oneof(
    bytes,
    fc.tuple(id, bytes).map(([stream, block]) => synStream(stream, block)),
    fc.tuple(id, fc.boolean()).map(([stream, isFirst]) => synStream(stream, encodeHeaders({ a: 'b' }, isFirst))),
    fc.tuple(id, bytes).map(([stream, body]) => Buffer.concat([dataHead(stream, body.length), body])),
    fc.tuple(id, fc.nat()).map(([stream, code]) => rstStream(stream, code)),
    fc.tuple(id, fc.nat()).map(([stream, size]) => windowUpdate(stream, size)),
    fc.nat().map((size) => initialWindow(size)),
    fc.tuple(fc.nat({ max: 20 }), bytes).map(([type, payload]) => {
      const head = Buffer.from([0x80, 3, 0, type, 0, 0, 0, payload.length]);
      return Buffer.concat([head, payload]);
    }),
  );
}

describe('a slow reader', () => {
  const MUCH = 8 * 1024 * 1024;

  /** Sends data on streams in turn, until the session stops reading. Returns the bytes that reach the streams. */
  async function flood(peer: Socket, ids: readonly number[], most: number): Promise<number> {
    const chunk = Buffer.alloc(16 * 1024);
    let sent = 0;
    for (let turn = 0; sent < most; turn++) {
      sent += chunk.length;
      const isTaken = peer.write(Buffer.concat([dataHead(ids[turn % ids.length]!, chunk.length), chunk]));
      if (!isTaken && !(await isDrained(peer))) break;
    }
    return sent;
  }

  /** Reports whether the other end keeps reading, which shows within many turns of the event loop. */
  async function isDrained(peer: Socket): Promise<boolean> {
    for (let turn = 0; turn < 2_000; turn++) {
      await nextTurn();
      if (!peer.writableNeedDrain) return true;
    }
    return false;
  }

  it.each([
    ['the connection', false],
    ['the window of the stream', true],
  ])('holds back the sender, by %s, and loses no data', async (_, announcesWindow) => {
    const opened = withResolvers<SpdyStream>();
    const { client } = await sessions(
      { announcesWindow, onStream: (stream) => opened.resolve(stream) },
      { announcesWindow },
    );
    const stream = client.open({});
    let sent = 0;
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const send = () => {
      while (sent < MUCH) {
        sent += chunk.length;
        if (!stream.write(chunk)) return;
      }
      stream.end();
    };
    stream.on('drain', send);
    send();
    const far = await opened.promise;
    far.accept();
    await new Promise<void>((resolve) => {
      const check = () => (far.readableLength >= MAX_BUFFERED_BYTES ? resolve() : setImmediate(check));
      check();
    });
    expect(far.readableLength).toBeLessThanOrEqual(MAX_BUFFERED_BYTES + chunk.length);
    if (announcesWindow) expect(sent).toBeLessThanOrEqual(MAX_BUFFERED_BYTES + 4 * chunk.length);
    let received = 0;
    for await (const bytes of far) received += bytes.length;
    expect(received).toBe(MUCH);
  });

  it('does not hold back other streams if there are windows', async () => {
    const { client } = await sessions(
      {
        announcesWindow: true,
        onStream(stream) {
          stream.accept();
          if (stream.headers.name === 'fast') stream.pipe(stream);
        },
      },
      { announcesWindow: true },
    );
    const slow = client.open({ name: 'slow' });
    slow.write(Buffer.alloc(MAX_BUFFERED_BYTES * 4));
    const fast = client.open({ name: 'fast' });
    fast.end(Buffer.alloc(MAX_BUFFERED_BYTES * 4));
    expect((await buffer(fast)).length).toBe(MAX_BUFFERED_BYTES * 4);
    slow.destroy();
  });

  it('holds back a peer that announces windows and violates them', async () => {
    const opened = withResolvers<SpdyStream>();
    const { peer } = await raw({ onStream: (stream) => opened.resolve(stream) });
    peer.write(Buffer.concat([windowUpdate(0, 1), synStream(1, encodeHeaders({}, true))]));
    const stream = await opened.promise;
    const sent = await flood(peer, [1], MUCH);
    expect(sent).toBeLessThan(MUCH);
    expect(stream.readableLength).toBeLessThanOrEqual(2 * MAX_BUFFERED_BYTES);
    let received = 0;
    stream.on('data', (bytes: Buffer) => {
      received += bytes.length;
    });
    await expect.poll(() => received).toBe(sent);
  });

  it('holds back the sender when many streams together have received much', async () => {
    const streams: SpdyStream[] = [];
    const { peer } = await raw({ onStream: (stream) => streams.push(stream) });
    const ids = Array.from({ length: 200 }, (_, index) => 2 * index + 1);
    peer.write(Buffer.concat(ids.map((id) => synStream(id, encodeHeaders({}, id === 1)))));
    await expect.poll(() => streams.length).toBe(ids.length);
    await flood(peer, ids, ids.length * MAX_BUFFERED_BYTES);
    const buffered = () => streams.reduce((sum, { readableLength }) => sum + readableLength, 0);
    expect(buffered()).toBeLessThanOrEqual(MAX_SESSION_BUFFERED_BYTES + MAX_BUFFERED_BYTES);
    // Closing streams makes room for the others.
    for (const stream of streams.splice(1)) stream.destroy();
    const first = streams[0]!.readableLength;
    let received = 0;
    streams[0]!.on('data', (bytes: Buffer) => {
      received += bytes.length;
    });
    await expect.poll(() => received).toBeGreaterThan(first);
  });

  it('counts streams that the peer has reset towards the limit', async () => {
    const streams: SpdyStream[] = [];
    const { peer } = await raw({ maxStreams: 2, onStream: (stream) => streams.push(stream) });
    for (const id of [1, 3, 5]) {
      const body = Buffer.alloc(1_000);
      const data = [dataHead(id, body.length), body];
      peer.write(Buffer.concat([synStream(id, encodeHeaders({}, id === 1)), ...data, rstStream(id, ResetCode.cancel)]));
    }
    const [refusal] = (await once(peer, 'data')) as [Buffer];
    expect(refusal.equals(rstStream(5, ResetCode.refusedStream))).toBe(true);
    for (const stream of streams) stream.resume().end();
    await Promise.all(streams.map((stream) => once(stream, 'close')));
    peer.write(synStream(7, encodeHeaders({}, false)));
    await expect.poll(() => streams.length).toBe(3);
  });

  it('does not keep a lost connection', async () => {
    const opened = withResolvers<SpdyStream>();
    const { peer, server } = await raw({ onStream: (stream) => opened.resolve(stream) });
    peer.write(synStream(1, encodeHeaders({}, true)));
    const stream = await opened.promise;
    await flood(peer, [1], MUCH);
    server.destroy();
    expect(await server.closed).toBeInstanceOf(Error);
    expect(stream.destroyed).toBe(true);
  });

  it('resets the stream when its window is exceeded', async () => {
    const opened = withResolvers<SpdyStream>();
    const { peer } = await raw({ announcesWindow: true, onStream: (stream) => opened.resolve(stream) });
    peer.write(synStream(1, encodeHeaders({}, true)));
    const stream = await opened.promise;
    const body = Buffer.alloc(MAX_BUFFERED_BYTES + 1);
    peer.write(Buffer.concat([dataHead(1, body.length), body]));
    await once(stream, 'close');
    expect(stream.resetCode).toBe(ResetCode.flowControlError);
  });
});

it('frames are the same however the bytes are divided', () => {
  const frames = [
    synStream(1, encodeHeaders({ streamtype: 'stdin' }, true)),
    Buffer.concat([dataHead(1, 5), Buffer.from('hello')]),
    dataHead(1, 0, 1),
    ping(7),
    rstStream(1, 5),
  ];
  const bytes = Buffer.concat(frames);
  const parsed = (pieces: readonly Buffer[]) => {
    const parser = new FrameParser();
    const all = pieces.flatMap((piece) => [...parser.push(piece)]);
    const data = all.filter((frame) => frame.kind === 'data');
    return {
      control: all.filter((frame) => frame.kind === 'control').map((frame) => [frame.type, [...frame.payload]]),
      data: Buffer.concat(data.map((frame) => frame.bytes)).toString(),
      last: data.filter(({ isLast }) => isLast).length,
    };
  };
  forAll(fc.array(fc.nat({ max: bytes.length })), (cuts) => {
    const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
    const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
    expect(parsed(pieces)).toEqual(parsed([bytes]));
  });
  expect(parsed([bytes])).toMatchObject({ data: 'hello', last: 1 });
});

it('frames preserve headers', () => {
  forAll(
    fc.dictionary(
      fc.string({ minLength: 1 }).map((name) => name.toLowerCase()),
      fc.string(),
    ),
    (headers) => {
      const block = encodeHeaders(headers, false);
      // Small headers are one stored block, and an empty one.
      expect({ ...decodeHeaders(block.subarray(5, -5)) }).toEqual({ ...headers });
    },
  );
});

/** Slow, greedy and misbehaving clients. */
import { once } from 'node:events';
import { connect as connectHttp2, constants } from 'node:http2';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { ControlledClock } from '../../../src/base/time/clock.ts';
import type { KubeObject } from '../../../src/kinds/kind.ts';
import { ALLOW, type Attributes, type Decision, NO_RULES } from '../../../src/server/access/authz/authorizer.ts';
import { MaxInFlight } from '../../../src/server/access/fairness/max-in-flight.ts';
import type { Limits } from '../../../src/server/serving/http/limits.ts';
import { askHttp1 } from '../http-client.ts';
import { batchOf, itemOf, type RunningServer, type StartServer, TOKEN } from '../http-server.ts';

export function loadContract(startServer: StartServer): void {
  const PODS = '/api/v1/namespaces/default/pods';
  const HEADERS = { authorization: `Bearer ${TOKEN}` };

  let running: RunningServer;
  const sockets: TLSSocket[] = [];

  async function start(limits: Partial<Limits> = {}, more: Parameters<StartServer>[0] = {}): Promise<void> {
    running = await startServer({ limits, ...more });
  }

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await running.server.close();
  });

  /** A raw TLS connection. */
  async function raw(protocol = 'http/1.1'): Promise<TLSSocket> {
    const socket = connect({
      port: running.port,
      host: '127.0.0.1',
      ca: running.authority.ca,
      ALPNProtocols: [protocol],
    });
    sockets.push(socket);
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
    return socket;
  }

  /** Everything received until the connection is closed. */
  async function rest(socket: TLSSocket): Promise<string> {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    await once(socket, 'close');
    return text;
  }

  const ask = (path: string, method = 'GET') =>
    askHttp1({ path, method, headers: HEADERS, port: running.port, ca: running.authority.ca });

  const head = (method: string, ...headers: string[]) =>
    `${[`${method} ${PODS} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${TOKEN}`, ...headers].join('\r\n')}\r\n`;

  const shortTimeouts = { headersTimeoutMs: 150, bodyTimeoutMs: 150, timeoutCheckIntervalMs: 25 };

  describe('a client that is too slow', () => {
    it('to send its headers gets 408 and is disconnected', async () => {
      await start(shortTimeouts);
      const socket = await raw();
      socket.write(head('GET'));
      expect(await rest(socket)).toMatch(/^HTTP\/1\.1 408 /);
      expect(running.core.calls).toEqual([]);
    });

    it('to send anything is disconnected', async () => {
      await start(shortTimeouts);
      await rest(await raw());
      expect(running.core.calls).toEqual([]);
    });

    it('to send its body gets 408 and is disconnected', async () => {
      await start(shortTimeouts);
      const socket = await raw();
      socket.write(`${head('POST', 'Content-Type: application/json', 'Content-Length: 100')}\r\n{"metadata":`);
      expect(await rest(socket)).toMatch(/^HTTP\/1\.1 408 /);
    });

    it('to send its body over HTTP/2 gets 408, and the connection stays open', async () => {
      await start(shortTimeouts);
      const session = connectHttp2(`https://127.0.0.1:${running.port}`, { ca: running.authority.ca });
      const slow = session.request({
        ':method': 'POST',
        ':path': PODS,
        ...HEADERS,
        'content-type': 'application/json',
      });
      slow.on('error', () => undefined);
      slow.write('{');
      const [answer] = await once(slow, 'response');
      expect(answer[':status']).toBe(408);
      const other = session.request({ ':path': PODS, ...HEADERS });
      expect((await once(other, 'response'))[0][':status']).toBe(200);
      session.destroy();
    });

    it.each([
      ['small', 100],
      ['large', 100_000],
    ])('to send a %s body gets 408 after 30 s and is disconnected', async (_, length) => {
      const clock = new ControlledClock();
      await start({}, { clock });
      const socket = await raw();
      const headers = ['Content-Type: application/json', `Content-Length: ${length}`, 'Expect: 100-continue'];
      socket.write(`${head('POST', ...headers)}\r\n{"metadata":`);
      expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 100 /);
      // This client's data was handled before the requests that another one sends afterwards.
      for (let i = 0; i < 3; i++) await ask(PODS);
      const received = rest(socket);
      await clock.advance(29_999);
      await ask(PODS);
      expect(socket.bytesRead).toBeLessThan(1000);
      await clock.advance(1);
      expect(await received).toMatch(/^HTTP\/1\.1 408 .*the body of the request did not arrive in time/s);
    });

    it('to send a large body gets 504, and delays nobody when it has disconnected', async () => {
      await start({ requestTimeoutMs: 100 }, { flowControl: new MaxInFlight({ maxReading: 1, maxMutating: 1 }) });
      const socket = await raw();
      socket.write(`${head('POST', 'Content-Type: application/json', 'Content-Length: 100000')}\r\n{"metadata":`);
      const [answer] = await once(socket, 'data');
      expect(String(answer)).toMatch(/^HTTP\/1\.1 504 /);
      socket.destroy();
      while ((await ask(PODS, 'DELETE')).code === 429) await new Promise((resolve) => setImmediate(resolve));
    });

    it('to read the rest of a watch that has ended is disconnected', async () => {
      const clock = new ControlledClock();
      await start({ requestTimeoutMs: 1000 }, { clock });
      const socket = await raw();
      socket.write(`${head('GET').replace(PODS, `${PODS}?watch=1`)}\r\n`);
      await once(socket, 'data');
      socket.pause();
      const [watch] = running.core.watches;
      await watch!.whenAttached;
      const batch = batchOf('x'.repeat(32 * 1024 * 1024));
      watch!.consumer?.events(batch);
      watch!.consumer?.end();
      // The front thread has handled both when it has answered another client.
      await ask(PODS);
      await clock.advance(1000);
      await watch!.whenStopped;
      const received = rest(socket);
      socket.resume();
      expect((await received).length).toBeLessThan(batch.json().length);
    });

    it('to read its response is disconnected', async () => {
      const clock = new ControlledClock();
      await start({ requestTimeoutMs: 1000 }, { clock });
      const large = {
        kind: 'Pod',
        apiVersion: 'v1',
        metadata: { name: 'x'.repeat(16 * 1024 * 1024) },
      } as unknown as KubeObject;
      running.core.answer = () => ({ type: 'object', item: itemOf(large) });
      const socket = await raw();
      socket.pause();
      socket.write(`${head('GET')}\r\n`);
      // It receives no more than the system has buffered for it.
      await once(socket.resume().pause(), 'readable');
      await clock.advance(1000);
      const openConnections = async () => /^apiserver_open_connections (\d+)$/m.exec((await ask('/metrics')).text)?.[1];
      while ((await openConnections()) !== '1') await new Promise((resolve) => setImmediate(resolve));
      expect((await rest(socket)).length).toBeLessThan(16 * 1024 * 1024);
    });
  });

  it('a client may reset its request before its body was read', async () => {
    const open: ((decision: Decision) => void)[] = [];
    const authorize = ({ path }: Attributes) =>
      path === undefined ? new Promise<Decision>((decide) => open.push(decide)) : ALLOW;
    await start({}, { authorizer: { authorize, rulesFor: () => NO_RULES } });
    const session = connectHttp2(`https://127.0.0.1:${running.port}`, { ca: running.authority.ca });
    const stream = session.request({
      ':path': PODS,
      ':method': 'POST',
      ...HEADERS,
      'content-type': 'application/json',
    });
    stream.on('error', () => undefined);
    stream.write(Buffer.alloc(30_000, ' '));
    await expect.poll(() => open.length).toBe(1);
    stream.close(constants.NGHTTP2_CANCEL);
    await new Promise((resolve) => session.ping(resolve));
    open[0]?.({ verdict: 'deny', reason: '' });
    await new Promise((resolve) => session.ping(resolve));
    session.destroy();
    expect((await ask('/healthz')).code).toBe(200);
  });

  it.each(['http/1.1', 'h2'])(
    'an unauthenticated client gets no response while too many wait, and others do: %s',
    async (protocol) => {
      const flowControl = new MaxInFlight({ maxReading: 100, maxMutating: 100 });
      flowControl.isOverloadedBy = () => true;
      await start({}, { flowControl });
      const socket = await raw(protocol);
      const asking = `GET ${PODS} HTTP/1.1\r\nHost: x\r\n\r\n`;
      socket.write(protocol === 'h2' ? greedyStream('wrong') : asking);
      let got = Buffer.alloc(0);
      socket.on('data', (chunk: Buffer) => {
        got = Buffer.concat([got, chunk]);
      });
      if (protocol === 'h2') await expect.poll(() => got.includes(RESET)).toBe(true);
      else await once(socket, 'close');
      expect(got.toString('latin1')).not.toContain('Unauthorized');
      expect((await ask(PODS)).code).toBe(200);
    },
  );

  /** The frame that resets the first stream with CANCEL. */
  const RESET = Buffer.from([0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 8]);

  describe('clients that do not read or finish', () => {
    // Exceeds what the kernel takes for a client that does not read: its buffers for one connection grow to four
    // megabytes.
    const SIZE = 8_000_000;
    const large = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'x'.repeat(SIZE) } } as unknown as KubeObject;

    it.each(['http/1.1', 'h2'])('are disconnected when their responses fill the memory: %s', async (protocol) => {
      await start({ maxUnsentBytes: 5 * SIZE });
      const bytes = itemOf(large).json();
      const item = { object: large, json: () => bytes };
      running.core.answer = () => ({ type: 'object', item });
      const silentClients = await Promise.all(Array.from({ length: 12 }, () => raw(protocol)));
      for (const socket of silentClients) {
        socket.pause();
        socket.write(protocol === 'h2' ? greedyStream() : `${head('GET')}\r\n`);
      }
      await expect.poll(() => running.core.calls.length).toBe(12);
      // A response that is read, after all others.
      expect((await ask(PODS)).code).toBe(200);
      const sizes = await Promise.all(silentClients.map((socket) => bytesReadBy(socket)));
      // Clients that fit into the limit stay: the newest ones.
      expect(sizes.filter((size) => size >= SIZE).length).toBeLessThanOrEqual(5);
      expect(sizes.at(-1)).toBeGreaterThanOrEqual(SIZE);
    });

    it('are disconnected when their incomplete bodies fill the memory', async () => {
      await start({ maxUnreadBytes: 200_000 });
      const half = `${head('POST', 'Content-Length: 60000', 'Expect: 100-continue')}\r\n{`;
      const slowClients = await Promise.all(Array.from({ length: 5 }, () => raw()));
      const first = once(slowClients[0]!, 'close');
      for (const socket of slowClients) {
        socket.write(half);
        // The server asks for the rest of the body, so it has counted it: the first one is the oldest.
        const [answer] = await once(socket, 'data');
        expect(String(answer)).toMatch(/^HTTP\/1\.1 100 /);
      }
      await first;
      expect(slowClients.at(-1)?.destroyed).toBe(false);
      expect((await ask(PODS)).code).toBe(200);
    });

    /** Number of bytes still received. */
    async function bytesReadBy(socket: TLSSocket): Promise<number> {
      let size = 0;
      if (socket.destroyed) return size;
      return new Promise((resolve) => {
        socket.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size >= SIZE) resolve(size);
        });
        socket.once('close', () => resolve(size));
        socket.resume();
      });
    }
  });

  /** An HTTP/2 client with maximal flow-control windows, and a request. */
  function greedyStream(token = TOKEN): Buffer {
    const frame = (type: number, flags: number, stream: number, payload: Buffer) => {
      const front = Buffer.alloc(9);
      front.writeUIntBE(payload.length, 0, 3);
      front.writeUInt8(type, 3);
      front.writeUInt8(flags, 4);
      front.writeUInt32BE(stream, 5);
      return Buffer.concat([front, payload]);
    };
    const field = (name: string, value: string) =>
      Buffer.concat([
        Buffer.from([0, name.length]),
        Buffer.from(name),
        Buffer.from([value.length]),
        Buffer.from(value),
      ]);
    const number = (value: number) => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value);
      return bytes;
    };
    const most = 2 ** 31 - 1;
    const request = [field(':path', PODS), field(':authority', 'x'), field('authorization', `Bearer ${token}`)];
    return Buffer.concat([
      Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
      frame(4, 0, 0, Buffer.concat([Buffer.from([0, 4]), number(most)])),
      frame(8, 0, 0, number(most - 65_535)),
      frame(1, 5, 1, Buffer.concat([Buffer.from([0x82, 0x87]), ...request])),
    ]);
  }

  describe('a client that exceeds a limit', () => {
    it('of headers gets 431', async () => {
      await start();
      const socket = await raw();
      socket.write(`${head('GET', `X-Large: ${'x'.repeat(100_000)}`)}\r\n`);
      expect(await rest(socket)).toMatch(/^HTTP\/1\.1 431 /);
    });

    it('of headers is rejected over HTTP/2', async () => {
      await start();
      const session = connectHttp2(`https://127.0.0.1:${running.port}`, {
        ca: running.authority.ca,
        maxSendHeaderBlockLength: 2 ** 20,
      });
      session.on('error', () => undefined);
      const stream = session.request({ ':path': PODS, ...HEADERS, 'x-large': 'x'.repeat(100_000) });
      stream.on('error', () => undefined);
      await new Promise((resolve) => stream.on('close', resolve));
      expect(running.core.calls).toEqual([]);
      session.destroy();
    });

    it('of a body that is not read gets its response, and is disconnected if it continues', async () => {
      await start({ maxBodyBytes: 100_000 });
      const socket = await raw();
      socket.write(
        `POST ${PODS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 900000000\r\n\r\n`,
      );
      let answer = '';
      socket.on('data', (chunk) => {
        answer += chunk;
      });
      while (!socket.destroyed) {
        socket.write(Buffer.alloc(16_384));
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(answer).toMatch(/^HTTP\/1\.1 401 /);
      expect(socket.bytesWritten).toBeLessThan(50_000_000);
    });

    it('is served on the same connection if the body was small', async () => {
      await start({ maxBodyBytes: 100_000 });
      const socket = await raw();
      const post = `POST ${PODS} HTTP/1.1\r\nHost: x\r\nContent-Length: 50000\r\n\r\n${'x'.repeat(50_000)}`;
      socket.write(`${post}GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      expect(await rest(socket)).toMatch(/^HTTP\/1\.1 401 [\s\S]*HTTP\/1\.1 200 /);
    });

    it('of streams has them rejected; those within the limit are served', async () => {
      await start({ maxStreams: 10 });
      let open: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => {
        open = resolve;
      });
      running.core.answer = async (call) => {
        await gate;
        return running.core.ordinary(call);
      };
      const session = connectHttp2(`https://127.0.0.1:${running.port}`, { ca: running.authority.ca });
      // Until it has received the server's settings, a client may open any number.
      const streams = Array.from({ length: 50 }, () => session.request({ ':path': `${PODS}/a`, ...HEADERS }));
      const codes = streams.map(
        (stream) =>
          new Promise<number>((resolve) => {
            stream.on('error', () => undefined);
            stream.on('response', (headers) => resolve(Number(headers[':status'])));
            stream.on('close', () => resolve(-stream.rstCode));
          }),
      );
      while (running.core.calls.length < 10) await new Promise((resolve) => setImmediate(resolve));
      open();
      const found = await Promise.all(codes);
      const served = found.filter((code) => code === 200).length;
      expect(served).toBeGreaterThanOrEqual(10);
      for (const code of found) expect([200, -constants.NGHTTP2_REFUSED_STREAM]).toContain(code);
      session.destroy();
    });

    it('of connections has them closed; others are served when one is free', async () => {
      await start({ maxConnectionsPerAddress: 3 });
      const first = [await raw(), await raw(), await raw()];
      await expect(raw()).rejects.toThrow();
      const closed = once(first[0]!, 'close');
      first[0]!.destroy();
      await closed;
      for (;;) {
        const answer = await ask(`${PODS}/a`).catch(() => undefined);
        if (answer) return expect(answer.code).toBe(200);
      }
    });

    it('of time gets 504', async () => {
      await start({ requestTimeoutMs: 100 });
      running.core.answer = () => new Promise(() => undefined);
      const answer = await ask(`${PODS}/a`);
      expect(answer.code).toBe(504);
      expect(answer.json()).toMatchObject({
        reason: 'Timeout',
        message: expect.stringContaining('did not complete within'),
      });
    });

    it('of time gets 504 when its client waits no longer, and the usual time when that is longer', async () => {
      const clock = new ControlledClock();
      await start({ requestTimeoutMs: 60_000 }, { clock });
      running.core.answer = () => new Promise(() => undefined);
      const codes = ['2s', '5m', '0s'].map((timeout) => ask(`${PODS}/a?timeout=${timeout}`).then(({ code }) => code));
      await expect.poll(() => running.core.calls.length).toBe(3);
      await clock.advance(2_000);
      expect(await codes[0]).toBe(504);
      expect(await Promise.race([...codes.slice(1), 'waiting'])).toBe('waiting');
      await clock.advance(58_000);
      expect(await Promise.all(codes)).toEqual([504, 504, 504]);
      expect((await ask(`${PODS}/a?timeout=soon`)).json()).toMatchObject({
        code: 400,
        message: 'invalid timeout specified in the request URL - time: invalid duration "soon"',
      });
    });

    it('of concurrent requests gets 429 with Retry-After', async () => {
      await start({}, { flowControl: new MaxInFlight({ maxReading: 1, maxMutating: 1 }) });
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      running.core.answer = async (call) => {
        if (call.name === 'slow') await held;
        return running.core.ordinary(call);
      };
      const slow = ask(`${PODS}/slow`);
      while (running.core.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
      const answer = await ask(`${PODS}/a`);
      expect(answer.code).toBe(429);
      expect(answer.headers['retry-after']).toBe('1');
      expect(answer.json()).toMatchObject({
        kind: 'Status',
        reason: 'TooManyRequests',
        message: 'too many requests, please try again later',
      });
      expect((await ask(PODS, 'DELETE')).code).toBe(200);
      release();
      expect((await slow).code).toBe(200);
    });
  });

  it('a watch may outlast the request timeout, and holds no seat', async () => {
    const clock = new ControlledClock();
    const flowControl = new MaxInFlight({ maxReading: 1, maxMutating: 1 });
    await start({ requestTimeoutMs: 1000 }, { clock, flowControl });
    const watching = ask(`${PODS}?watch=true`);
    while (running.core.watches.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await running.core.watches[0]!.whenAttached;
    await clock.advance(2500);
    expect((await ask(`${PODS}/a`)).code).toBe(200);
    running.core.watches[0]!.consumer!.end();
    expect((await watching).code).toBe(200);
  });
}

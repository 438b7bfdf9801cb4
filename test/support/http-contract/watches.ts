/** Watches over HTTP/1, HTTP/2 and WebSocket. */
import { connect } from 'node:http2';
import { request as requestHttps } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { askHttp1 } from '../http-client.ts';
import { batchOf, type FakeWatch, type RunningServer, type StartServer, TOKEN } from '../http-server.ts';

export function watchesContract(startServer: StartServer): void {
  let running: RunningServer;

  beforeAll(async () => {
    running = await startServer();
  });

  afterAll(() => running.server.close());

  const WATCH = '/api/v1/namespaces/default/pods?watch=true';
  const authorization = `Bearer ${TOKEN}`;

  /** Client's side of a watch: the data so far, and a way to wait for more. */
  interface Client {
    readonly head: Promise<{ code: number; type: string | undefined }>;
    /** Resolves with everything received once it holds this many lines, or at the end. */
    lines(count: number): Promise<string[]>;
    readonly ended: Promise<void>;
    leave(): void;
  }

  interface Readable {
    on(event: string, listener: (value: any) => void): unknown;
  }

  function follow(stream: Readable): Pick<Client, 'lines' | 'ended'> {
    let text = '';
    let over = false;
    const waiting = new Set<() => void>();
    const tell = () => {
      for (const wake of [...waiting]) wake();
    };
    const lines = () => text.split('\n').slice(0, -1);
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      tell();
    });
    const ended = new Promise<void>((resolve) => {
      stream.on('end', () => {
        over = true;
        tell();
        resolve();
      });
    });
    return {
      ended,
      async lines(count) {
        while (lines().length < count && !over) {
          await new Promise<void>((resolve) => {
            waiting.add(resolve);
          });
        }
        return lines();
      },
    };
  }

  function watchHttp1(path: string): Client {
    const { port, authority } = running;
    const request = requestHttps({ host: '127.0.0.1', port, ca: authority.ca, path, headers: { authorization } });
    request.on('error', () => undefined);
    request.end();
    const response = new Promise<any>((resolve) => request.on('response', resolve));
    const followed = response.then(follow);
    return {
      head: response.then((received) => ({ code: received.statusCode, type: received.headers['content-type'] })),
      lines: async (count) => (await followed).lines(count),
      ended: followed.then(({ ended }) => ended),
      leave: () => request.destroy(),
    };
  }

  function watchHttp2(path: string): Client {
    const { port, authority } = running;
    const session = connect(`https://127.0.0.1:${port}`, { ca: authority.ca });
    const stream = session.request({ ':path': path, authorization });
    stream.on('error', () => undefined);
    const followed = follow(stream);
    return {
      head: new Promise((resolve) =>
        stream.on('response', (head) => resolve({ code: Number(head[':status']), type: head['content-type'] })),
      ),
      lines: followed.lines,
      ended: followed.ended.finally(() => session.close()),
      leave: () => session.destroy(),
    };
  }

  async function opened(): Promise<FakeWatch> {
    const watch = running.core.watches.at(-1);
    if (!watch) throw new Error('no watch was opened');
    await watch.whenAttached;
    return watch;
  }

  describe.each([
    ['HTTP/1.1', watchHttp1],
    ['HTTP/2', watchHttp2],
  ])('over %s', (_, start) => {
    it('sends its headers before the first event', async () => {
      const client = start(WATCH);
      expect(await client.head).toEqual({ code: 200, type: 'application/json' });
      client.leave();
    });

    it('sends events as lines, and ends cleanly', async () => {
      const client = start(WATCH);
      await client.head;
      const watch = await opened();
      watch.consumer?.events(batchOf('a', 'b'));
      expect(await client.lines(2)).toEqual([
        '{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}}',
        '{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b"}}}',
      ]);
      watch.consumer?.events(batchOf('c'));
      watch.consumer?.end();
      watch.consumer?.events(batchOf('late'));
      await client.ended;
      expect(await client.lines(3)).toHaveLength(3);
      await watch.whenStopped;
    });

    it('stops when the client disconnects', async () => {
      const client = start(WATCH);
      await client.head;
      const watch = await opened();
      expect(watch.stopped).toBe(false);
      client.leave();
      await watch.whenStopped;
      expect(() => watch.consumer?.events(batchOf('nobody'))).not.toThrow();
    });

    it('sends large events in order with small ones, and reports progress', async () => {
      const client = start(WATCH);
      await client.head;
      const watch = await opened();
      const names = ['a', 'l'.repeat(1_000_000), 'b', 'm'.repeat(300_000), 'c'];
      let progress = 0;
      watch.consumer?.onProgress?.(() => progress++);
      for (const name of names) watch.consumer?.events(batchOf(name));
      watch.consumer?.end();
      await client.ended;
      const received = (await client.lines(names.length)).map((line) => JSON.parse(line).object.metadata.name);
      expect(received).toEqual(names);
      expect(progress).toBeGreaterThan(0);
    });

    it('counts the backlog of a client that does not read', async () => {
      const client = start(WATCH);
      await client.head;
      const watch = await opened();
      expect(watch.consumer?.backlog()).toBe(0);
      const large = Buffer.alloc(16 * 1024 * 1024, 'x');
      watch.consumer?.events({ events: [], json: () => large });
      expect(watch.consumer?.backlog()).toBeGreaterThan(large.length / 2);
      client.leave();
      await watch.whenStopped;
    });
  });

  const watchPaths: [path: string, call: object][] = [
    ['/api/v1/watch/pods', { plural: 'pods' }],
    ['/api/v1/pods?watch', { plural: 'pods' }],
    ['/api/v1/pods?watch=1&resourceVersion=5', { plural: 'pods', options: { resourceVersion: '5' } }],
    ['/api/v1/watch/namespaces/default/pods', { plural: 'pods', namespace: 'default' }],
    [
      '/api/v1/watch/namespaces/default/pods/a',
      { plural: 'pods', namespace: 'default', options: { fieldSelector: 'metadata.name=a' } },
    ],
    [
      '/api/v1/namespaces/default/pods/a?watch=true',
      { plural: 'pods', namespace: 'default', options: { fieldSelector: 'metadata.name=a' } },
    ],
    ['/api/v1/watch/namespaces/default', { plural: 'namespaces', options: { fieldSelector: 'metadata.name=default' } }],
    ['/apis/apps/v1/watch/deployments', { apiVersion: 'apps/v1', plural: 'deployments' }],
  ];

  it.each(watchPaths)('parses %s', async (path, call) => {
    const client = watchHttp1(path);
    await client.head;
    expect(running.core.lastCall).toMatchObject({ verb: 'watch', ...call });
    expect(running.core.lastCall.name).toBeUndefined();
    client.leave();
  });

  it('rejects a field selector that contradicts the path', async () => {
    const path = '/api/v1/watch/namespaces/default/pods/a?fieldSelector=metadata.name%3Db';
    const answer = await askHttp1({ port: running.port, ca: running.authority.ca, path, headers: { authorization } });
    expect(answer.code).toBe(400);
    expect(answer.json().message).toBe("fieldSelector metadata.name doesn't match requested name");
  });

  it('streams no YAML', async () => {
    const ask = (accept: string) =>
      askHttp1({ port: running.port, ca: running.authority.ca, path: WATCH, headers: { authorization, accept } });
    const answer = await ask('application/yaml');
    expect(answer.code).toBe(406);
    expect(answer.text).toContain('only the following media types are accepted: application/json;stream=watch');
  });

  describe('over a WebSocket', () => {
    const open = (path: string, protocols: string[], headers: Record<string, string> = { authorization }) =>
      new WebSocket(`wss://127.0.0.1:${running.port}${path}`, protocols, { ca: running.authority.ca, headers });
    const event = (socket: WebSocket, name: string) =>
      new Promise<any>((resolve) => socket.once(name, (...values: unknown[]) => resolve(values)));

    it('sends each event as a text frame', async () => {
      const socket = open(WATCH, []);
      await event(socket, 'open');
      const watch = await opened();
      const first = event(socket, 'message');
      watch.consumer?.events(batchOf('a'));
      const [data, binary] = await first;
      expect(binary).toBe(false);
      expect(JSON.parse(String(data))).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } });

      const frames: string[] = [];
      socket.on('message', (frame) => frames.push(String(frame)));
      const closed = event(socket, 'close');
      watch.consumer?.events(batchOf('b', 'c'));
      expect(watch.consumer?.backlog()).toBeGreaterThanOrEqual(0);
      watch.consumer?.end();
      expect((await closed)[0]).toBe(1000);
      expect(frames.map((frame) => JSON.parse(frame).object.metadata.name)).toEqual(['b', 'c']);
      await watch.whenStopped;
    });

    it('stops when the client disconnects', async () => {
      const socket = open(WATCH, []);
      await event(socket, 'open');
      const watch = await opened();
      socket.terminate();
      await watch.whenStopped;
      expect(() => watch.consumer?.events(batchOf('nobody'))).not.toThrow();
    });

    it('sends large events in order with small ones', async () => {
      const socket = open(WATCH, []);
      await event(socket, 'open');
      const watch = await opened();
      const frames: string[] = [];
      socket.on('message', (frame) => frames.push(String(frame)));
      const closed = event(socket, 'close');
      const names = ['a', 'ä'.repeat(500_000), 'b', 'm'.repeat(300_000), 'c'];
      for (const name of names) watch.consumer?.events(batchOf(name));
      watch.consumer?.end();
      await closed;
      expect(frames.map((frame) => JSON.parse(frame).object.metadata.name)).toEqual(names);
    });

    it('takes a token from the subprotocol, and echoes the other one', async () => {
      const carrier = `base64url.bearer.authorization.k8s.io.${Buffer.from(TOKEN).toString('base64url')}`;
      const socket = open(WATCH, [carrier, 'binary.k8s.io'], {});
      await event(socket, 'open');
      expect(socket.protocol).toBe('binary.k8s.io');
      expect(running.core.lastCall.user.name).toBe('alice');
      socket.terminate();
    });

    it('answers errors over HTTP', async () => {
      for (const [path, headers, code] of [
        [WATCH, {}, 401],
        ['/api/v1/nonsense?watch=true', { authorization }, 404],
        ['/api/v1/namespaces/default/pods/a', { authorization }, 200],
      ] as const) {
        const socket = open(path, [], headers);
        const [, response] = await event(socket, 'unexpected-response');
        expect(response.statusCode).toBe(code);
        socket.on('error', () => undefined);
        socket.terminate();
      }
    });

    it('disconnects a client that sends large messages', async () => {
      const socket = open(WATCH, []);
      await event(socket, 'open');
      const watch = await opened();
      socket.on('error', () => undefined);
      const closed = event(socket, 'close');
      socket.send('x'.repeat(2000));
      await watch.whenStopped;
      expect((await closed)[0]).toBe(1009);
    });
  });

  it('answers an upgrade to another protocol as an ordinary request', async () => {
    const answer = await askHttp1({
      port: running.port,
      ca: running.authority.ca,
      path: '/api/v1/namespaces/default/pods/a',
      headers: { authorization, connection: 'upgrade', upgrade: 'h2c' },
    });
    expect(answer.code).toBe(200);
  });
}

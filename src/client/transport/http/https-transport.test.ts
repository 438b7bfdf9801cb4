import { once } from 'node:events';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiError, notFound } from '../../../api/errors.ts';
import { withResolvers } from '../../../base/event-loop/with-resolvers.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import type { Request } from '../transport.ts';
import { type HttpsTransport, type HttpsTransportOptions, httpsTransport } from './https-transport.ts';
import { UnparsedBytes } from './unparsed-bytes.ts';

type Handler = (request: http.IncomingMessage, response: http.ServerResponse, body: string) => void;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A server that runs the handler, and a transport to it. */
async function serve(handler: Handler, options: Partial<HttpsTransportOptions> = {}) {
  const listener: http.RequestListener = async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    handler(request, response, Buffer.concat(chunks).toString());
  };
  const server = http.createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const transport = httpsTransport({ server: `http://127.0.0.1:${port}`, ...options });
  cleanups.push(() => {
    transport.close();
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { server, transport, port };
}

const json = (response: http.ServerResponse, value: unknown, code = 200) => {
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
};

const LIMITS = { maxBytes: 100_000, maxDepth: 10, maxParts: 1_000 };
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', resourceVersion: '7' } };
const WATCH = { verb: 'watch', apiVersion: 'v1', plural: 'pods' } as const;
const request: Request = { verb: 'get', apiVersion: 'v1', plural: 'pods', namespace: 'x', name: 'a' };
const line = (name: string) => `${JSON.stringify({ type: 'ADDED', object: { ...pod, metadata: { name } } })}\n`;

async function read(transport: HttpsTransport, options: Partial<Request> = {}): Promise<string[]> {
  const names: string[] = [];
  const stream = await transport.watch({ verb: 'watch', apiVersion: 'v1', plural: 'pods', ...options });
  for await (const batch of stream) for (const { object } of batch) names.push((object as typeof pod).metadata.name);
  return names;
}

/** A transport after its first call, whose connection the server closes at the next. */
async function withLostCall() {
  let count = 0;
  const { transport } = await serve((incoming, response) => {
    if (++count === 2) incoming.socket.destroy();
    else json(response, pod);
  });
  await transport.call(request);
  return { transport, calls: () => count };
}

/** A promise, and the function that resolves it. */
function happening() {
  const { promise: happened, resolve: happens } = withResolvers<void>();
  return { happened, happens: () => happens() };
}

describe('connections', () => {
  it('are shared by many calls, without delaying leases or watches', async () => {
    const held: http.ServerResponse[] = [];
    let arrived = () => {};
    const { server, transport } = await serve(({ url }, response) => {
      if (url?.includes('leases')) json(response, pod);
      else if (url?.includes('watch=')) response.end(line('seen'));
      else {
        held.push(response);
        arrived();
      }
    });
    const until = async (count: number) => {
      while (held.length < count) await new Promise<void>((resolve) => (arrived = resolve));
    };
    let connected = 0;
    server.on('connection', () => connected++);
    const calls = Array.from({ length: 40 }, () => transport.call(request));
    await until(16);
    const lease = { ...request, apiVersion: 'coordination.k8s.io/v1', plural: 'leases' };
    expect(await transport.call(lease)).toMatchObject({ type: 'object' });
    expect(await read(transport)).toEqual(['seen']);
    expect(held).toHaveLength(16);
    for (let answered = 0; answered < calls.length; answered++) {
      await until(1);
      json(held.shift()!, pod);
    }
    await Promise.all(calls);
    expect(connected).toBeLessThanOrEqual(18);
  });

  it('that are dead are given up with their watches once the server answers over new ones', async () => {
    const known = new Set<unknown>();
    const dead = new Set<unknown>();
    const watches: http.ServerResponse[] = [];
    const { transport } = await serve(({ url, socket }, response) => {
      known.add(socket);
      if (dead.has(socket)) return;
      if (!url?.includes('watch=')) json(response, pod);
      else watches.push(response.writeHead(200)) === 1 && response.write(line('seen'));
    });
    const watch = await transport.watch(WATCH);
    const events = watch[Symbol.asyncIterator]();
    expect((await events.next()).value).toHaveLength(1);
    await Promise.all([1, 2, 3].map(() => transport.call(request)));
    for (const socket of known) dead.add(socket);
    const patch: Request = { ...request, verb: 'patch', patchType: 'merge', body: {} };
    const waiting = transport.call(patch).catch((error: Error) => error.message);
    const late = transport.call({ ...request, timeoutMs: 100 });
    await expect(late).rejects.toMatchObject({
      reason: 'Timeout',
      message: expect.stringMatching(/ did not answer within 0\.1 s$/),
    });
    // There are idle dead connections, which this one does not use.
    expect(await transport.call({ ...request, timeoutMs: 5_000 })).toMatchObject({ type: 'object' });
    await expect(events.next()).rejects.toMatchObject({ reason: 'ServiceUnavailable' });
    expect(await waiting).toContain('cannot reach');
  });

  it('that never had an answer are given up as well', async () => {
    let isSilent = true;
    const { transport } = await serve((_, response) => {
      if (!isSilent) json(response, pod);
    });
    const watch = transport.watch(WATCH).catch((error) => error);
    for (const _ of [1, 2]) {
      await expect(transport.call({ ...request, timeoutMs: 50 })).rejects.toMatchObject({ reason: 'Timeout' });
    }
    isSilent = false;
    await transport.call(request);
    expect(await watch).toMatchObject({ reason: 'ServiceUnavailable' });
  });
});

describe('calls', () => {
  it.each<[Partial<Request>, string, string, string | undefined]>([
    [{}, 'GET', '/api/v1/namespaces/x/pods/a', undefined],
    [
      { verb: 'list', name: undefined, options: { labelSelector: 'a in (b)', limit: 5 } },
      'GET',
      '/api/v1/namespaces/x/pods?labelSelector=a+in+%28b%29&limit=5',
      undefined,
    ],
    [
      {
        verb: 'create',
        apiVersion: 'apps/v1',
        plural: 'deployments',
        name: undefined,
        body: pod,
        options: { dryRun: ['All'] },
      },
      'POST',
      '/apis/apps/v1/namespaces/x/deployments?dryRun=All',
      'application/json',
    ],
    [
      { verb: 'update', body: pod, subresource: 'status' },
      'PUT',
      '/api/v1/namespaces/x/pods/a/status',
      'application/json',
    ],
    [
      { verb: 'patch', patchType: 'json', body: [] },
      'PATCH',
      '/api/v1/namespaces/x/pods/a',
      'application/json-patch+json',
    ],
    [
      { verb: 'patch', patchType: 'merge', body: {} },
      'PATCH',
      '/api/v1/namespaces/x/pods/a',
      'application/merge-patch+json',
    ],
    [
      { verb: 'patch', patchType: 'strategic', body: {} },
      'PATCH',
      '/api/v1/namespaces/x/pods/a',
      'application/strategic-merge-patch+json',
    ],
    [
      { verb: 'delete', namespace: undefined, plural: 'nodes', name: 'a/b', options: { gracePeriodSeconds: 0 } },
      'DELETE',
      '/api/v1/nodes/a%2Fb?gracePeriodSeconds=0',
      undefined,
    ],
    [{ verb: 'deletecollection', name: undefined }, 'DELETE', '/api/v1/namespaces/x/pods', undefined],
  ])('sends %j as %s %s', async (part, method, path, type) => {
    const seen: unknown[] = [];
    const { transport } = await serve((incoming, response, body) => {
      seen.push(incoming.method, incoming.url, incoming.headers['content-type'], body);
      json(response, part.verb === 'list' ? { kind: 'PodList', metadata: {}, items: [] } : pod);
    });
    await transport.call({ ...request, ...part });
    expect(seen).toEqual([method, path, type, part.body === undefined ? '' : JSON.stringify(part.body)]);
  });

  it('fails when the response of an untrusted server has no end', async () => {
    const endless = (response: http.ServerResponse) => {
      if (!response.destroyed) response.write('x'.repeat(1_000), () => endless(response));
    };
    const { transport } = await serve((_, response) => endless(response), { limits: LIMITS });
    await expect(transport.call(request)).rejects.toThrow('the response is larger than 100000 bytes');
    await expect(read(transport)).rejects.toThrow('a line is larger than 100000 bytes');
  });

  it('fails when the response of an untrusted server has many small parts, which take much memory', async () => {
    const parts = `[${'{},'.repeat(600)}{}]`;
    const { transport } = await serve((_, response) => response.end(`${parts}\n`), { limits: LIMITS });
    await expect(transport.call(request)).rejects.toThrow('the response has more than 1000 parts');
    await expect(read(transport)).rejects.toThrow('the response has more than 1000 parts');
  });

  it('fails when many responses of an untrusted server do not end, unlike a series of large ones', async () => {
    let isHonest = false;
    const limits = { ...LIMITS, unparsed: new UnparsedBytes(100_000) };
    const { transport } = await serve(
      (_, response) => {
        if (isHonest) json(response, { ...pod, data: 'x'.repeat(70_000) });
        else response.write('x'.repeat(30_000));
      },
      { limits },
    );
    const end = new AbortController();
    const { signal } = end;
    const pending = [
      ...[1, 2].map(() => transport.call({ ...request, signal })),
      ...[1, 2].map(() => read(transport, { signal })),
    ].map((each) => each.catch((error: Error) => error.message));
    expect(await Promise.race(pending)).toContain('unfinished responses are larger than 100000 bytes together');
    end.abort();
    await Promise.all(pending);
    isHonest = true;
    for (let i = 0; i < 3; i++) await transport.call(request);
  });

  it('fails when the server switches protocols', async () => {
    const { transport } = await serve(({ socket }) => {
      socket.write('HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    });
    await expect(transport.call(request)).rejects.toThrow('the server switched to another protocol');
  });

  it('keeps its connection', async () => {
    let connections = 0;
    const { server, transport } = await serve((_, response) => json(response, pod));
    server.on('connection', () => connections++);
    for (let i = 0; i < 5; i++) await transport.call(request);
    expect(connections).toBe(1);
  });

  it('returns objects, lists and statuses', async () => {
    const answers = [
      pod,
      {
        kind: 'PodList',
        apiVersion: 'v1',
        metadata: { resourceVersion: '9' },
        items: [{ metadata: { name: 'b' } }, pod],
      },
      { kind: 'Status', status: 'Success', metadata: {}, code: 200 },
    ];
    const { transport } = await serve((_, response) => json(response, answers.shift()));
    expect(await transport.call(request)).toEqual({ type: 'object', object: pod });
    expect(await transport.call({ ...request, verb: 'list', name: undefined })).toEqual({
      type: 'list',
      bytes: expect.any(Number),
      metadata: { resourceVersion: '9' },
      items: [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'b' } }, pod],
    });
    expect(await transport.call({ ...request, verb: 'delete' })).toMatchObject({ type: 'status' });
  });

  it('converts a status back into the error that the server threw', async () => {
    const thrown = notFound({ group: 'apps', plural: 'deployments' }, 'web');
    const { transport } = await serve((_, response) => json(response, thrown.toStatus(), 404));
    const error = await transport.call(request).catch((each) => each);
    expect(error).toBeInstanceOf(ApiError);
    expect(error.toStatus()).toEqual(thrown.toStatus());
  });

  it.each([
    [409, 'Conflict'],
    [410, 'Expired'],
    [429, 'TooManyRequests'],
    [500, 'InternalError'],
    [502, 'ServiceUnavailable'],
    [599, 'InternalError'],
    [418, 'BadRequest'],
  ])('gives code %i without a status the reason %s', async (code, reason) => {
    const { transport } = await serve((_, response) => response.writeHead(code).end('<html>oops</html>'));
    const error = await transport.call(request).catch((each) => each);
    expect(error).toMatchObject({ reason, message: `the server answered ${code}: <html>oops</html>` });
  });

  it('reports an unreachable server, with the cause', async () => {
    const { transport, server, port } = await serve((_, response) => json(response, pod));
    await new Promise((resolve) => server.close(resolve));
    const error = await transport.call(request).catch((each) => each);
    expect(error).toMatchObject({
      reason: 'ServiceUnavailable',
      message: `cannot reach 127.0.0.1:${port}: the connection was refused (ECONNREFUSED)`,
    });
    expect(error.cause).toBeInstanceOf(Error);
  });

  it.each<[string, number, string, string]>([
    ['a redirection', 302, '', 'the server answered 302, a redirection, which is not followed'],
    ['nothing', 204, '', 'the server answered 204 without an object'],
    ['a page', 200, '<html>Sign in</html>', 'the server answered 200 without an object: <html>Sign in</html>'],
    ['half of an object', 200, '{"kind":', 'the server answered 200 without an object: {"kind":'],
  ])('rejects %s with its reason', async (_, code, body, message) => {
    const { transport } = await serve((_request, response) => response.writeHead(code).end(body));
    await expect(transport.call(request)).rejects.toMatchObject({ name: 'ApiError', message });
  });

  it.each(['{}', '{"kind":"Pod","metadata":{}}', '{"kind":"PodList","items":5}', '{"kind":"PodList","items":{}}'])(
    '%s is not a list',
    async (body) => {
      const { transport } = await serve((_, response) => response.end(body));
      await expect(transport.call({ ...request, verb: 'list', name: undefined })).rejects.toMatchObject({
        message: `the server answered 200 without a list: ${body}`,
      });
    },
  );

  it.each(['{"kind":"PodList","items":null}', '{"kind":"PodList"}', '{"items":[]}'])('lists %s', async (body) => {
    const { transport } = await serve((_, response) => response.end(body));
    expect(await transport.call({ ...request, verb: 'list', name: undefined })).toMatchObject({ items: [] });
  });

  it('sends a read again when the server has closed a kept-alive connection', async () => {
    const { transport, calls } = await withLostCall();
    await transport.call(request);
    expect(calls()).toBe(3);
  });

  it('does not send a write again', async () => {
    const { transport, calls } = await withLostCall();
    const error = await transport.call({ ...request, verb: 'create', body: pod }).catch((each) => each);
    expect(error).toMatchObject({ reason: 'ServiceUnavailable' });
    expect(calls()).toBe(2);
  });

  it('fails after the timeout', async () => {
    const clock = new ControlledClock();
    const { happened: waiting, happens: arrived } = happening();
    const { transport } = await serve(() => arrived(), { clock, timeout: 5000 });
    const outcome = transport.call(request).catch((each) => each);
    await waiting;
    await clock.advance(5000);
    expect(await outcome).toMatchObject({ reason: 'Timeout' });
    expect(clock.waiting).toBe(0);
  });

  it('may have a longer timeout for reads than for writes', async () => {
    const clock = new ControlledClock();
    const limits = { clock, timeout: 60_000, readTimeout: 10_000 };
    let waiting = 0;
    const { happened: both, happens: arrived } = happening();
    const { transport, port } = await serve(() => ++waiting === 2 && arrived(), limits);
    const [reading, writing] = [request, { ...request, verb: 'create' as const, body: pod }].map((each) =>
      transport.call(each).catch((error) => error),
    );
    await both;
    await clock.advance(10_000);
    expect(await reading).toMatchObject({ message: `127.0.0.1:${port} did not answer within 10 s` });
    expect(clock.waiting).toBe(1);
    await clock.advance(50_000);
    expect(await writing).toMatchObject({ message: `127.0.0.1:${port} did not answer within 60 s` });
  });

  it('fails with the reason of its signal', async () => {
    const stop = new AbortController();
    const { transport } = await serve(() => stop.abort(new Error('stopping')));
    await expect(transport.call({ ...request, signal: stop.signal })).rejects.toThrow('stopping');
    await expect(transport.call({ ...request, signal: stop.signal })).rejects.toThrow('stopping');
  });

  it('authenticates with a token or a password, below the path of the server', async () => {
    const seen: unknown[] = [];
    const handler: Handler = (incoming, response) => {
      seen.push(incoming.url, incoming.headers.authorization);
      json(response, pod);
    };
    const { port } = await serve(handler);
    const server = `http://127.0.0.1:${port}/clusters/one/`;
    for (const credentials of [{ token: 't' }, { username: 'u', password: 'p' }]) {
      const transport = httpsTransport({ server, ...credentials });
      cleanups.push(() => transport.close());
      await transport.call(request);
    }
    const path = '/clusters/one/api/v1/namespaces/x/pods/a';
    expect(seen).toEqual([path, 'Bearer t', path, `Basic ${Buffer.from('u:p').toString('base64')}`]);
  });
});

describe('watches', () => {
  it('joins events that arrive in pieces, and ends when the server ends', async () => {
    const { transport } = await serve(async (incoming, response) => {
      expect(incoming.url).toBe('/api/v1/pods?watch=true&resourceVersion=5');
      const bytes = Buffer.from(line('ä') + line('b') + line('c'));
      for (const at of [10, 70, 71, 200]) {
        response.write(bytes.subarray(at === 10 ? 0 : ({ 70: 10, 71: 70, 200: 71 } as any)[at], at));
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end(bytes.subarray(200));
    });
    expect(await read(transport, { options: { resourceVersion: '5' } })).toEqual(['ä', 'b', 'c']);
  });

  it('fails to start with the error of the server', async () => {
    const gone = new ApiError('Expired', 'too old resource version: 1 (5)');
    const { transport } = await serve((_, response) => json(response, gone.toStatus(), 410));
    await expect(read(transport)).rejects.toMatchObject({ reason: 'Expired', message: gone.message });
  });

  it('throws when the connection breaks inside an event, after the events before it', async () => {
    const { transport } = await serve((_, response) => {
      response.write(line('a'));
      response.write(line('b').slice(0, 20), () => response.destroy());
    });
    const stream = await transport.watch(WATCH);
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const batch of stream) seen.push(...batch);
    })();
    await expect(reading).rejects.toMatchObject({ reason: 'ServiceUnavailable' });
    expect(seen.length).toBeLessThanOrEqual(1);
  });

  it('survives a connection that breaks before it is read', async () => {
    const { happened: gone, happens: closed } = happening();
    const { transport } = await serve((incoming, response) => {
      incoming.socket.on('close', () => closed());
      response.write(line('a'), () => setImmediate(() => response.destroy()));
    });
    const stream = await transport.watch(WATCH);
    await gone;
    await new Promise((resolve) => setImmediate(resolve));
    const reading = (async () => {
      for await (const _ of stream);
    })();
    await expect(reading).rejects.toMatchObject({ reason: 'ServiceUnavailable' });
  });

  it.each(['signal', 'close', 'break'] as const)('disconnects on %s', async (how) => {
    const stop = new AbortController();
    const { happened: gone, happens: hungUp } = happening();
    const { transport } = await serve((incoming, response) => {
      incoming.socket.on('close', () => hungUp());
      response.write(line('a'));
    });
    const stream = await transport.watch({ verb: 'watch', apiVersion: 'v1', plural: 'pods', signal: stop.signal });
    for await (const _ of stream) {
      if (how === 'signal') stop.abort();
      if (how === 'close') stream.close();
      if (how === 'break') break;
    }
    await expect(gone).resolves.toBeUndefined();
  });

  it('applies back-pressure', async () => {
    const total = 64 * 1024 * 1024;
    const filler = Buffer.from(line('x'.repeat(64 * 1024)));
    let sent = 0;
    let finished = false;
    const { transport } = await serve(async (_, response) => {
      while (sent < total && !response.destroyed) {
        sent += filler.length;
        if (!response.write(filler)) await once(response, 'drain').catch(() => undefined);
      }
      response.end();
      finished = true;
    });
    const stream = await transport.watch(WATCH);
    let taken = 0;
    for await (const batch of stream) {
      taken += batch.length * filler.length;
      // The kernel may buffer some data, but back-pressure stops the writer.
      if (taken < total / 2) expect(finished).toBe(false);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(taken).toBe(sent);
  });

  it('treats a watch that lasts longer than requested as a dead connection', async () => {
    const clock = new ControlledClock();
    const { transport } = await serve((_, response) => response.write(line('a')), { clock });
    const options = { timeoutSeconds: 300 };
    const stream = await transport.watch({ verb: 'watch', apiVersion: 'v1', plural: 'pods', options });
    const reading = (async () => {
      for await (const _ of stream);
    })();
    const outcome = expect(reading).rejects.toMatchObject({ reason: 'ServiceUnavailable' });
    await clock.advance(300_000);
    expect(clock.waiting).toBe(1);
    await clock.advance(30_000);
    await outcome;
  });
});

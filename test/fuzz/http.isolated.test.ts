/**
 * Sends hostile input to a listening server: every answer is a clear 4xx or a closed connection, nothing reaches the
 * core, nothing is thrown, nothing grows. Earlier findings stay in `corpus/http`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { askHttp1, askHttp2 } from '../support/http-client.ts';
import { type RunningServer, startServer, TOKEN } from '../support/http-server.ts';

const PODS = '/api/v1/namespaces/default/pods';
const headers = { authorization: `Bearer ${TOKEN}` };

let running: RunningServer;
/** Server with short timeouts. */
let hasty: RunningServer;
let insecure: number;
const thrown: unknown[] = [];
const remember = (error: unknown) => thrown.push(error);

beforeAll(async () => {
  process.on('uncaughtException', remember).on('unhandledRejection', remember);
  running = await startServer();
  hasty = await startServer({ limits: { headersTimeoutMs: 200, bodyTimeoutMs: 200, timeoutCheckIntervalMs: 50 } });
  insecure = (await hasty.server.listenInsecure(0, '127.0.0.1')).port;
});

afterAll(async () => {
  process.off('uncaughtException', remember).off('unhandledRejection', remember);
  await Promise.all([running.server.close(), hasty.server.close()]);
});

afterEach(async () => {
  expect(thrown).toEqual([]);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  const alive = await askHttp1({ port: running.port, ca: running.authority.ca, path: '/livez' });
  expect(alive.code).toBe(200);
});

function corpus(folder: string): [name: string, bytes: Buffer][] {
  const directory = new URL(`corpus/http/${folder}/`, import.meta.url);
  return readdirSync(directory).map((name) => [name, readFileSync(new URL(name, directory))]);
}

/** Writes bytes to a connection and collects the data that is received until either side closes it. */
function exchange(socket: Socket, ...pieces: (string | Buffer)[]): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      received += chunk;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(received));
    for (const piece of pieces) socket.write(piece);
  });
}

const plain = () => connect(insecure, '127.0.0.1');
const codesOf = (received: string) => [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => Number(code));

describe('the corpus', () => {
  it.each(corpus('json'))('JSON: %s', async (_, body) => {
    const calls = running.core.calls.length;
    for (const [method, path, type] of [
      ['POST', PODS, 'application/json'],
      ['PUT', `${PODS}/a`, 'application/json'],
      ['PATCH', `${PODS}/a`, 'application/merge-patch+json'],
    ] as const) {
      const asked = { port: running.port, ca: running.authority.ca, method, path, body };
      const answer = await askHttp1({ ...asked, headers: { ...headers, 'content-type': type } });
      // A patch may be without a kind, or have one of another type: the core decides about it.
      if (method === 'PATCH' && answer.code === 200) continue;
      expect(answer.code).toBe(400);
      expect(answer.json()).toMatchObject({ kind: 'Status', status: 'Failure', reason: 'BadRequest' });
    }
    expect(running.core.calls.slice(calls).every(({ verb }) => verb === 'patch')).toBe(true);
  });

  it.each(corpus('yaml'))('YAML: %s', async (_, body) => {
    const calls = running.core.calls.length;
    const type = { 'content-type': 'application/yaml' };
    const asked = { port: running.port, ca: running.authority.ca, method: 'POST', path: PODS, body };
    const answer = await askHttp2({ ...asked, headers: { ...headers, ...type } });
    expect(answer.code).toBe(400);
    expect(answer.json()).toMatchObject({ kind: 'Status', status: 'Failure', reason: 'BadRequest' });
    expect(running.core.calls).toHaveLength(calls);
  });

  it.each(corpus('raw'))('HTTP: %s', async (_, bytes) => {
    const calls = hasty.core.calls.length;
    const codes = codesOf(await exchange(plain(), bytes));
    expect(codes.every((code) => code >= 400 && code < 500)).toBe(true);
    expect(codes.length).toBeLessThanOrEqual(1);
    expect(hasty.core.calls.slice(calls).every(({ verb }) => verb === 'watch')).toBe(true);
  });
});

describe('slowness', () => {
  it('of headers ends in 408', async () => {
    expect(codesOf(await exchange(plain(), 'GET / HTTP/1.1\r\nHost:'))).toEqual([408]);
  });

  it('of a body ends in 408', async () => {
    const head = `POST ${PODS} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n`;
    expect(codesOf(await exchange(plain(), head, '{"kind":'))).toEqual([408]);
  });

  it('of a body over HTTP/2 ends in 408', async () => {
    const session = connectHttp2(`https://127.0.0.1:${hasty.port}`, { ca: hasty.authority.ca });
    const stream = session.request({ ':path': PODS, ':method': 'POST', ...headers });
    stream.write('{"kind":');
    const code = await new Promise((resolve) => stream.on('response', (head) => resolve(head[':status'])));
    expect(code).toBe(408);
    session.destroy();
  });

  it('does not wait for bodies that nobody will read', async () => {
    const head = `POST /nope HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n`;
    expect(codesOf(await exchange(plain(), head))).toEqual([404]);
  });
});

describe('size', () => {
  it('of a body is counted while it comes, and no more of it is kept than the limit', async () => {
    const piece = Buffer.alloc(1 << 20, ' ');
    const before = process.memoryUsage().arrayBuffers;
    const { port } = await running.server.listenInsecure(0, '127.0.0.1');
    const socket = connect(port, '127.0.0.1');
    const answered = exchange(socket, `POST ${PODS} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n`);
    let peak = 0;
    for (let sent = 0; sent < 64 && !socket.destroyed; sent++) {
      const chunk = Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]);
      await new Promise<void>((resolve) => socket.write(chunk, () => resolve()));
      peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
    }
    socket.end();
    expect(codesOf(await answered)[0]).toBe(413);
    expect(peak).toBeLessThan(48 * 1024 * 1024);
  });
});

describe('chance', () => {
  const token = fc.constantFrom(
    ...['GET', 'POST', 'DELETE', ' ', '/', PODS, '?watch=1', '%', '%00', '%2f', 'HTTP/1.1', '\r\n', '\n', ':', ','],
    ...[
      'Host: localhost',
      'Content-Length: 3',
      'Transfer-Encoding: chunked',
      'Connection: close',
      'Upgrade: websocket',
    ],
    ...['Expect: 100-continue', '0\r\n\r\n', '{}', '\0', '\u00ff', '__proto__', '&', '=', ';'],
  );

  it('in what is sent gets no answer that is not HTTP, and breaks nothing', async () => {
    const text = fc.array(token, { minLength: 1, maxLength: 25 }).map((tokens) => tokens.join(''));
    await fc.assert(
      fc.asyncProperty(text, async (request) => {
        const socket = plain();
        const answered = exchange(socket, Buffer.from(request, 'latin1'));
        socket.end();
        const received = await answered;
        expect(received === '' || received.startsWith('HTTP/1.1 ')).toBe(true);
        expect(codesOf(received).every((code) => code < 500)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  it('in a path gets a clear answer', async () => {
    const part = fc.constantFrom(
      'api',
      'apis',
      'v1',
      'apps',
      'namespaces',
      'watch',
      'pods',
      'a',
      '',
      '..',
      '%',
      '%41',
      '%ff',
      '*',
    );
    const path = fc.array(part, { maxLength: 8 }).map((parts) => `/${parts.join('/')}`);
    const query = fc.array(fc.stringMatching(/^[a-z%+=0-9]{0,12}$/), { maxLength: 4 }).map((parts) => parts.join('&'));
    const session = connectHttp2(`https://127.0.0.1:${running.port}`, { ca: running.authority.ca });
    await fc.assert(
      fc.asyncProperty(
        path,
        query,
        fc.constantFrom('GET', 'DELETE', 'HEAD', 'OPTIONS'),
        async (where, what, method) => {
          fc.pre(!where.includes('watch'));
          const asked = { port: running.port, ca: running.authority.ca, path: `${where}?${what}`, method, headers };
          const answer = await askHttp2(asked, session);
          expect([200, 400, 404, 405]).toContain(answer.code);
        },
      ),
      { numRuns: 200 },
    );
    session.close();
  });

  it('in a body gets 200 or 400, and what gets 200 is an object', async () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      ':',
      ',',
      '\\',
      '"kind"',
      '"a"',
      '1',
      'null',
      '- ',
      '\n',
      '&a',
      '*a',
      '|',
      '#',
      '__proto__',
    );
    const body = fc.oneof(
      fc.array(piece, { maxLength: 30 }).map((pieces) => Buffer.from(pieces.join(''))),
      fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
      fc.json().map((text) => Buffer.from(text)),
    );
    const session = connectHttp2(`https://127.0.0.1:${running.port}`, { ca: running.authority.ca });
    await fc.assert(
      fc.asyncProperty(body, fc.constantFrom('json', 'yaml'), async (bytes, format) => {
        const type = { 'content-type': `application/${format}` };
        const asked = { port: running.port, ca: running.authority.ca, path: PODS, method: 'POST', body: bytes };
        const answer = await askHttp2({ ...asked, headers: { ...headers, ...type } }, session);
        expect([200, 400]).toContain(answer.code);
        if (answer.code === 200) expect(running.core.lastCall.body).toBeTypeOf('object');
      }),
      { numRuns: 300 },
    );
    session.close();
  });

  it('in HTTP/2 frames closes the connection', async () => {
    const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 9, maxLength: 200 }), fc.boolean(), async (bytes, polite) => {
        const socket = connectTls({
          port: running.port,
          host: '127.0.0.1',
          ca: running.authority.ca,
          ALPNProtocols: ['h2'],
        });
        const answered = exchange(socket, ...(polite ? [preface] : []), Buffer.from(bytes));
        socket.end();
        await answered;
      }),
      { numRuns: 40 },
    );
  });
});

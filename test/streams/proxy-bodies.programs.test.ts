/** Bodies of proxied requests and responses pass through as they come, however large they are. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hostNode } from './host-node.ts';
import { type StreamServer, startStreamServer } from './server.ts';

let running: StreamServer;
let program: Server;
/** Handles the next request to the program. */
let serve: (asked: IncomingMessage, response: ServerResponse) => unknown;

beforeAll(async () => {
  running = await startStreamServer(hostNode());
  program = createServer((asked, response) => void serve(asked, response)).listen(0, '127.0.0.1');
  await once(program, 'listening');
  const { port } = program.address() as AddressInfo;
  await running.createPod('web', { containers: [{ name: 'c', image: 'host', ports: [{ containerPort: port }] }] });
});

afterAll(async () => {
  program.close();
  program.closeAllConnections();
  await running.stop();
});

const PATH = '/api/v1/namespaces/default/pods/web/proxy';

function ask(method: string, headers: Record<string, string> = {}, path = '/x') {
  return request({
    ...{ host: '127.0.0.1', port: running.port, ca: running.ca, agent: false, method, path: PATH + path },
    headers: { authorization: 'Bearer admin', ...headers },
  });
}

const CHUNK = Buffer.alloc(64 * 1024, 'x');

function* chunks(count: number) {
  for (let i = 0; i < count; i++) yield CHUNK;
}

async function digest(body: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of body) hash.update(part);
  return hash.digest('hex');
}

const LARGE = 1024;
const expected = createHash('sha256');
for (const chunk of chunks(LARGE)) expected.update(chunk);
const DIGEST = expected.digest('hex');

it.each([
  ['of a declared length', { 'content-length': String(LARGE * CHUNK.length) }],
  ['in chunks', { 'transfer-encoding': 'chunked' }],
])('a body of 64 MB %s reaches the program', async (_how, headers) => {
  serve = async (asked, response) => response.end(`${asked.headers['content-length']} ${await digest(asked)}`);
  const call = ask('POST', headers);
  const answered = once(call, 'response');
  await pipeline(Readable.from(chunks(LARGE)), call);
  const [response] = await answered;
  const length = 'content-length' in headers ? headers['content-length'] : 'undefined';
  expect(await text(response)).toBe(`${length} ${DIGEST}`);
});

it('a body of 64 MB comes over HTTP/2, too', async () => {
  serve = async (asked, response) => response.end(await digest(asked));
  const session = connectHttp2(`https://127.0.0.1:${running.port}`, { ca: running.ca });
  try {
    const call = session.request({ ':method': 'PUT', ':path': `${PATH}/x`, authorization: 'Bearer admin' });
    const answer = text(call);
    await pipeline(Readable.from(chunks(LARGE)), call, { end: true }).catch(() => undefined);
    expect(await answer).toBe(DIGEST);
  } finally {
    session.close();
  }
});

it('a client sends no faster than the program reads', async () => {
  let held: IncomingMessage | undefined;
  const arrived = new Promise<void>((resolve) => {
    serve = (asked) => {
      held = asked;
      resolve();
    };
  });
  const call = ask('POST');
  call.on('error', () => undefined);
  let sent = 0;
  await Promise.race([
    pipeline(
      Readable.from(
        (function* () {
          for (const chunk of chunks(16 * LARGE)) {
            sent += chunk.length;
            yield chunk;
          }
        })(),
      ),
      call,
    ).catch(() => undefined),
    arrived.then(() => untilStill(() => sent)),
  ]);
  expect(sent).toBeGreaterThan(0);
  expect(sent).toBeLessThan(64 * 1024 * 1024);
  held?.destroy();
  call.destroy();
});

/** Resolves when a number has not changed while the server answered several other requests. */
async function untilStill(value: () => number): Promise<void> {
  for (let before = -1; before !== value(); ) {
    before = value();
    for (let i = 0; i < 10; i++) await version();
  }
}

async function version(): Promise<string> {
  const { port, ca } = running;
  const headers = { authorization: 'Bearer admin' };
  const call = request({ host: '127.0.0.1', port, ca, agent: false, path: '/version', headers }).end();
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  return text(response);
}

it('a response begins before the body of the request has ended, and both go on', async () => {
  serve = async (asked, response) => {
    response.writeHead(200, { 'Content-Type': 'text/plain' });
    for await (const part of asked) response.write(`got ${part}`);
    response.end('end');
  };
  const call = ask('POST');
  call.write('one');
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  const [first] = await once(response, 'data');
  expect(String(first)).toBe('got one');
  call.end('two');
  expect(await text(response)).toBe('got twoend');
});

it('a program may answer without reading the body', async () => {
  serve = (_asked, response) => response.writeHead(413, { Connection: 'close' }).end('too much');
  const call = ask('POST', { 'content-length': '100000000' });
  call.on('error', () => undefined);
  call.write('some of it');
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  expect([response.statusCode, await text(response)]).toEqual([413, 'too much']);
  call.destroy();
});

it('a client that leaves ends the request of the program', async () => {
  const left = new Promise<string>((resolve) => {
    serve = (asked) => {
      asked.resume();
      asked.on('error', ({ message }) => resolve(message));
    };
  });
  const call = ask('POST');
  call.on('error', () => undefined);
  call.write('some of it');
  await once(program, 'request');
  call.destroy();
  expect(await left).toBe('aborted');
});

it('a program that cannot be reached is said to be so, although a body is sent', async () => {
  const call = ask('POST', {}, '').on('error', () => undefined);
  call.destroy();
  const other = request({
    ...{ host: '127.0.0.1', port: running.port, ca: running.ca, agent: false, method: 'POST' },
    path: PATH.replace('/web/', '/web:1/'),
    headers: { authorization: 'Bearer admin', 'content-length': '1000000' },
  });
  other.on('error', () => undefined);
  other.write(CHUNK);
  const [response] = (await once(other, 'response')) as [IncomingMessage];
  expect(JSON.parse(await text(response))).toMatchObject({ code: 503, reason: 'ServiceUnavailable' });
  other.destroy();
});

it.each([
  ['plain', (page: string) => Buffer.from(page), (body: Buffer) => body.toString()],
  ['gzip', (page: string) => gzipSync(page), (body: Buffer) => gunzipSync(body).toString()],
])('the links of a page lead through the proxy: %s', async (encoding, encode, decode) => {
  serve = (_asked, response) => {
    const body = encode('<a href="/next"><img src="//example.com/x">');
    const encoded = encoding === 'plain' ? {} : { 'Content-Encoding': encoding };
    const cors = { 'Access-Control-Allow-Origin': '*' };
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', ...encoded, ...cors });
    response.end(body);
  };
  const [response] = (await once(ask('GET').end(), 'response')) as [IncomingMessage];
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part);
  expect(decode(Buffer.concat(parts))).toBe(`<a href="${PATH}/next"><img src="//example.com/x">`);
  expect(response.headers['access-control-allow-origin']).toBeUndefined();
});

import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type TestAuthority, testAuthority } from '../../../test/support/tls.ts';
import { fetchJson } from './fetch-json.ts';

let authority: TestAuthority;
let server: Server;
let respond: (request: IncomingMessage, response: ServerResponse) => void;

beforeAll(async () => {
  authority = await testAuthority();
  server = createServer(await authority.server(), (request, response) => respond(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const get = (timeoutMs?: number) => {
  const { port } = server.address() as AddressInfo;
  const timeout = timeoutMs === undefined ? {} : { timeoutMs };
  return fetchJson(`https://127.0.0.1:${port}/`, { ca: authority.ca, ...timeout });
};

it('fetches JSON', async () => {
  respond = (_, response) => response.end('{"a":[1]}');
  expect(await get()).toEqual({ a: [1] });
});

it('gives up a body that comes byte by byte', async () => {
  respond = (_, response) => {
    const next = () => {
      if (!response.destroyed) response.write(' ', () => setImmediate(next));
    };
    next();
  };
  await expect(get(200)).rejects.toThrow('did not answer in 200 ms');
});

it('gives up a rejection whose body has no end', async () => {
  const closed = new Promise<void>((resolve) => {
    respond = (_, response) => {
      response.on('close', resolve).writeHead(302, { location: '/' }).write('x');
    };
  });
  await expect(get()).rejects.toThrow('answered 302');
  await closed;
});

it.each([
  ['is too large', ' '.repeat(1_100_000), 'more than 1048576 bytes'],
  ['is nested without end', '['.repeat(1_000_000), 'did not answer with JSON'],
  ['is no JSON', 'no', 'did not answer with JSON'],
])('rejects a body that %s', async (_, body, message) => {
  respond = (_request, response) => response.end(body);
  await expect(get()).rejects.toThrow(message);
});

it('fails when the server switches protocols', async () => {
  respond = ({ socket }) => {
    socket.write('HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
  };
  await expect(get()).rejects.toThrow('the server switched to another protocol');
});

import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { DialGuard } from '../../../base/sockets/dial/dial-guard.ts';
import { type ImageDialing, send } from './http.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function listening(address: string, answer: RequestListener): Promise<number> {
  const server = createServer(answer).listen(0, address);
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Resolves all names to 127.0.0.2, which stands for an address elsewhere; 127.0.0.3 is one of the node. */
const guard = new DialGuard({
  ownAddresses: () => ['192.0.2.7'],
  allowedRanges: ['127.0.0.2'],
  resolve: (name, done) => done(null, [{ address: name === 'inside.example' ? '127.0.0.1' : '127.0.0.2', family: 4 }]),
});
const fetched = async (url: string, dialing: Partial<ImageDialing> = {}) => {
  const { hostname } = new URL(url);
  const { signal } = new AbortController();
  const options = { isInsecure: false, signal, dialing: { guard, hostname, isTrusted: false, ...dialing } };
  const { response } = await send({ url, ...options });
  response.destroy();
  return response.statusCode;
};

test('an image may name a registry on loopback, and a name may not lead there', async () => {
  const port = await listening('127.0.0.1', (_, response) => response.end());
  expect(await fetched(`http://127.0.0.1:${port}/`)).toBe(200);
  await expect(fetched(`http://inside.example:${port}/`)).rejects.toThrow('127.0.0.1 is a loopback address');
  expect(await fetched(`http://inside.example:${port}/`, { isTrusted: true })).toBe(200);
});

test.each([
  ['a loopback address', (port: number) => `http://127.0.0.1:${port}/secret`],
  ['a name of a loopback address', (port: number) => `http://inside.example:${port}/secret`],
  ['a link-local address', () => 'http://169.254.169.254/latest/meta-data'],
  ['an address of the node', () => 'http://192.0.2.7/'],
])('a registry cannot redirect the node to %s', async (_, location) => {
  let asked = 0;
  const inside = await listening('127.0.0.1', (_request, response) => {
    asked++;
    response.end();
  });
  const registry = await listening('127.0.0.2', (_request, response) => {
    response.writeHead(307, { location: location(inside) }).end();
  });
  await expect(fetched(`http://registry.example:${registry}/v2/`)).rejects.toThrow('address not allowed');
  expect(asked).toBe(0);
});

test('a registry on loopback may redirect to another port there', async () => {
  const blobs = await listening('127.0.0.1', (_, response) => response.end());
  const registry = await listening('127.0.0.1', (_, response) => {
    response.writeHead(307, { location: `http://127.0.0.1:${blobs}/` }).end();
  });
  expect(await fetched(`http://127.0.0.1:${registry}/v2/`)).toBe(200);
});

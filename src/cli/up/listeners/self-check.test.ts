import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { testAuthority } from '../../../../test/support/tls.ts';
import { reachProblem } from './self-check.ts';

const opened: Server[] = [];
afterEach(() => {
  for (const server of opened.splice(0)) server.close();
});

async function listen(server: Server): Promise<string> {
  opened.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const respond =
  (status: number, body: object): RequestListener =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };

async function tls(listener: RequestListener) {
  const authority = await testAuthority();
  const server = await listen(createServer(await authority.server(), listener));
  return { server, credentials: { ca: authority.ca } };
}

test('a server that answers is reached, whatever it says', async () => {
  const ready = await tls(respond(200, { major: '1' }));
  expect(await reachProblem(ready.server, ready.credentials)).toBeUndefined();
  const busy = await tls(respond(429, { kind: 'Status', status: 'Failure', reason: 'TooManyRequests', code: 429 }));
  expect(await reachProblem(busy.server, busy.credentials)).toBeUndefined();
});

test('another server in its place is named', async () => {
  const { credentials } = await tls(respond(200, {}));
  const other = await tls(respond(200, {}));
  const said = await reachProblem(other.server, credentials);
  expect(said).toContain(`Clients do not reach the API at ${other.server}: another server answers there`);
  expect(said).toContain(`grep ${new URL(other.server).port}`);
});

test('what does not speak TLS is named', async () => {
  const plain = await listen(createHttpServer(respond(200, {})));
  const { credentials } = await tls(respond(200, {}));
  expect(await reachProblem(plain, credentials)).toContain('it does not speak TLS');
});

test('a refused connection is one', async () => {
  const { server, credentials } = await tls(respond(200, {}));
  opened.at(-1)!.close();
  expect(await reachProblem(server, credentials)).toContain('the connection was refused');
});

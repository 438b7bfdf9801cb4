import { once } from 'node:events';
import { createServer as createHttpServer, get } from 'node:http';
import { get as getSecurely } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { connectionProblem } from './connection-problem.ts';

let server: Server;
afterEach(() => server?.close());

async function listen(created: Server): Promise<string> {
  server = created.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const problemOf = async (request: ReturnType<typeof get>) => connectionProblem((await once(request, 'error'))[0]);

it('explains that a server does not speak HTTP', async () => {
  const host = await listen(createServer((socket) => socket.end('SSH-2.0-OpenSSH')));
  expect(await problemOf(get(`http://${host}`))).toBe('it does not speak HTTP (HPE_INVALID_CONSTANT)');
});

it('explains that a server does not use TLS', async () => {
  const host = await listen(createHttpServer());
  expect(await problemOf(getSecurely(`https://${host}`))).toBe('it does not speak TLS (EPROTO)');
});

it('explains that a server closed the connection', async () => {
  const host = await listen(createServer((socket) => socket.once('data', () => socket.destroy())));
  expect(await problemOf(get(`http://${host}`))).toBe('it closed the connection (ECONNRESET)');
});

it.each<[object, string]>([
  [{ code: 'ECONNREFUSED', message: 'connect ECONNREFUSED ::1:1' }, 'the connection was refused (ECONNREFUSED)'],
  [{ code: 'ENOTFOUND', message: 'getaddrinfo ENOTFOUND a' }, 'its name is unknown (ENOTFOUND)'],
  [{ code: 'EHOSTUNREACH', message: 'connect EHOSTUNREACH' }, 'there is no route to it (EHOSTUNREACH)'],
  [{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT', message: 'self-signed' }, 'self-signed (DEPTH_ZERO_SELF_SIGNED_CERT)'],
  [
    { code: 'ERR_SSL_A', message: '20:error:0A:SSL routines:a:b:c.c:1:\n', reason: 'certificate required' },
    'TLS failed: certificate required (ERR_SSL_A)',
  ],
  [{ code: 'EOTHER', message: '' }, '(EOTHER)'],
  [{ code: 'EACCES', message: 'connect EACCES /run/a.sock' }, 'connect EACCES /run/a.sock'],
  [{ code: 14, message: 'a status of gRPC' }, 'a status of gRPC'],
  [{ message: 'the response is too large' }, 'the response is too large'],
])('explains %j as: %s', (error, problem) => {
  expect(connectionProblem(error)).toBe(problem);
});

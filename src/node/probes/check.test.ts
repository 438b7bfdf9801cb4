import { once } from 'node:events';
import { createServer as createHttp, type Server as HttpServer, type RequestListener } from 'node:http';
import { createServer as createHttp2, type ServerHttp2Stream } from 'node:http2';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer as createTcp, type Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { testAuthority } from '../../../test/support/tls.ts';
import { STRICT_GUARD } from '../../base/sockets/dial/dial-guard.ts';
import { systemClock } from '../../base/time/clock.ts';
import { RuntimeError } from '../runtime/errors.ts';
import { check } from './check.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function port(server: Server | HttpServer): Promise<number> {
  servers.push(server as Server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const run = (exitCode: number, stdout = '', stderr = '') => ({
  run: async () => ({ exitCode, stdout: Buffer.from(stdout), stderr: Buffer.from(stderr) }),
});

const target = (over: object = {}) => ({
  ...{ runtime: run(0), clock: systemClock, id: 'c1', address: '127.0.0.1', userAgent: 'kube-probe/1.36' },
  ...{ isOnNodeNetwork: false, guard: STRICT_GUARD },
  container: { name: 'c', image: 'i', ports: [{ name: 'web', containerPort: 1 }] } as never,
  ...over,
});

const probe = (fields: object) => ({ timeoutSeconds: 5, ...fields }) as never;

test('a command passes when it exits with 0; its output is the reason otherwise', async () => {
  const exec = probe({ exec: { command: ['sh', '-c', 'x y'] } });
  expect(await check(exec, target())).toEqual({ type: 'success' });
  const failing = target({ runtime: run(3, 'out\n', 'err\n') });
  expect(await check(exec, failing)).toEqual({ type: 'failure', output: 'out\nerr\n' });
  const late = () => Promise.reject(new RuntimeError('DeadlineExceeded', 'late'));
  expect(await check(exec, target({ runtime: { run: late } }))).toEqual({
    type: 'failure',
    output: 'command "sh -c x y" timed out',
  });
  const gone = () => Promise.reject(new RuntimeError('Unavailable', 'no answer'));
  expect(await check(exec, target({ runtime: { run: gone } }))).toEqual({ type: 'error', message: 'no answer' });
});

const answering = (answer: RequestListener) => port(createHttp(answer));

test('HTTP: codes from 200 to 399 pass; others and no answer fail in the words of the kubelet', async () => {
  const seen: unknown[] = [];
  const at = await answering(({ url, headers }, response) => {
    seen.push([url, headers.host, headers['user-agent'], headers.accept, headers['x-a']]);
    response.writeHead(url === '/bad' ? 503 : 200).end();
  });
  const get = (fields: object) => check(probe({ httpGet: { port: at, ...fields } }), target());
  const httpHeaders = [
    { name: 'Host', value: 'example' },
    { name: 'X-A', value: '1' },
    { name: 'X-A', value: '2' },
  ];
  expect(await get({ path: '/ok?a=b', httpHeaders })).toEqual({ type: 'success' });
  expect(await get({ path: '/bad' })).toEqual({
    type: 'failure',
    output: 'HTTP probe failed with statuscode: 503',
  });
  expect(seen).toEqual([
    ['/ok?a=b', 'example', 'kube-probe/1.36', '*/*', '1, 2'],
    ['/bad', `127.0.0.1:${at}`, 'kube-probe/1.36', '*/*', undefined],
  ]);
});

test('HTTP: a program that switches protocols fails', async () => {
  const at = await answering(({ socket }) => {
    socket.write('HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
  });
  expect(await check(probe({ httpGet: { port: at } }), target())).toEqual({
    type: 'failure',
    output: `Get "http://127.0.0.1:${at}/": the server switched to another protocol`,
  });
});

test('HTTP: a header may be named as a property of every object', async () => {
  const at = await answering(({ headers }, response) => {
    response.writeHead(Object.hasOwn(headers, 'constructor') ? 200 : 500).end();
  });
  const httpHeaders = [{ name: 'constructor', value: '1' }];
  expect(await check(probe({ httpGet: { port: at, httpHeaders } }), target())).toEqual({ type: 'success' });
});

test('HTTP: a refused connection and a missing answer are named', async () => {
  const at = await answering(() => {});
  expect(await check(probe({ httpGet: { port: at }, timeoutSeconds: 0.05 }), target())).toEqual({
    type: 'failure',
    output: `Get "http://127.0.0.1:${at}/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
  });
  (servers[0] as HttpServer).closeAllConnections();
  servers.splice(0)[0]?.close();
  expect(await check(probe({ httpGet: { port: at } }), target())).toEqual({
    type: 'failure',
    output: `Get "http://127.0.0.1:${at}/": dial tcp 127.0.0.1:${at}: connect: connection refused`,
  });
});

test('HTTP: redirects are followed on the same host, and are a warning to another', async () => {
  const at = await answering(({ url }, response) => {
    const location = { '/here': '/end', '/away': 'http://192.0.2.1/', '/loop': '/loop' }[url ?? ''];
    if (location) response.writeHead(302, { location }).end('moved');
    else response.writeHead(url === '/end' ? 500 : 200).end();
  });
  const get = (path: string) => check(probe({ httpGet: { port: at, path } }), target());
  expect(await get('/here')).toMatchObject({ type: 'failure', output: 'HTTP probe failed with statuscode: 500' });
  expect(await get('/away')).toEqual({
    type: 'warning',
    output: 'Probe terminated redirects, Response body: moved',
  });
  expect(await get('/loop')).toMatchObject({ type: 'failure', output: expect.stringContaining('10 redirects') });
});

test('HTTPS: certificates are not verified', async () => {
  const { cert, key } = await (await testAuthority()).server();
  const at = await port(createHttps({ cert, key }, (_, response) => response.end()));
  expect(await check(probe({ httpGet: { port: at, scheme: 'HTTPS' } }), target())).toEqual({ type: 'success' });
});

test('TCP: a connection is enough', async () => {
  const server = createTcp((socket) => socket.end());
  const at = await port(server);
  expect(await check(probe({ tcpSocket: { port: at } }), target())).toEqual({ type: 'success' });
  server.close();
  await once(server, 'close');
  expect(await check(probe({ tcpSocket: { port: at } }), target())).toEqual({
    type: 'failure',
    output: `dial tcp 127.0.0.1:${at}: connect: connection refused`,
  });
});

test('ports are found by name', async () => {
  const at = await port(createTcp((socket) => socket.end()));
  const container = { name: 'c', ports: [{ name: 'web', containerPort: at }] };
  expect(await check(probe({ tcpSocket: { port: 'web' } }), target({ container }))).toEqual({ type: 'success' });
  expect(await check(probe({ tcpSocket: { port: 'wab' } }), target({ container }))).toEqual({
    type: 'error',
    message: "couldn't find port: wab in container ports",
  });
});

/** A gRPC server that answers each service with a status of health, or with a status of gRPC. */
async function health(services: Record<string, number | { grpc: number }>) {
  const server = createHttp2();
  server.on('stream', (stream: ServerHttp2Stream) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      const service = Buffer.concat(chunks).subarray(7).toString();
      const answer = services[service];
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
      stream.on('wantTrailers', () => {
        const status = typeof answer === 'number' ? 0 : (answer?.grpc ?? 5);
        stream.sendTrailers({ 'grpc-status': String(status), 'grpc-message': 'unknown service' });
      });
      if (typeof answer === 'number') stream.end(Buffer.of(0, 0, 0, 0, 2, 8, answer));
      else stream.end();
    });
  });
  return port(server as never);
}

test('gRPC: the service must be serving', async () => {
  const at = await health({ '': 1, down: 2, none: { grpc: 12 } });
  const ask = (service: string) => check(probe({ grpc: { port: at, service } }), target());
  expect(await ask('')).toEqual({ type: 'success' });
  expect(await ask('down')).toEqual({
    type: 'failure',
    output: 'service unhealthy (responded with "NOT_SERVING")',
  });
  expect(await ask('none')).toMatchObject({
    output: expect.stringMatching(/^error: this server does not implement the grpc health protocol/),
  });
  expect(await ask('other')).toMatchObject({ output: expect.stringMatching(/^error: health rpc probe failed/) });
});

test('gRPC: a server that does not answer is a failure', async () => {
  const at = await port(createTcp(() => {}));
  expect(await check(probe({ grpc: { port: at }, timeoutSeconds: 0.05 }), target())).toEqual({
    type: 'failure',
    output: `timeout: failed to connect service "127.0.0.1:${at}" within 50ms`,
  });
});

/** Whatever the pod's address is, the server listens on loopback. */
test.each([
  ['a loopback address', '127.0.0.1'],
  ['a name of one', 'localhost'],
])('without the network of the node, a pod cannot have the agent probe %s', async (_, host) => {
  let connections = 0;
  const server = createHttp((_request, response) => response.end());
  server.on('connection', () => connections++);
  const at = await port(server);
  const [inPod, onNode] = [false, true].map((isOnNodeNetwork) => target({ address: '192.0.2.9', isOnNodeNetwork }));
  const rejection = { type: 'failure', output: expect.stringContaining('address not allowed') };
  expect(await check(probe({ httpGet: { host, port: at } }), inPod!)).toMatchObject(rejection);
  expect(await check(probe({ tcpSocket: { host, port: at } }), inPod!)).toMatchObject(rejection);
  expect(connections).toBe(0);
  expect(await check(probe({ httpGet: { host, port: at } }), onNode!)).toEqual({ type: 'success' });
  expect(await check(probe({ tcpSocket: { host, port: at } }), onNode!)).toEqual({ type: 'success' });
});

test('no pod can have the agent probe link-local addresses', async () => {
  const outcome = await check(
    probe({ httpGet: { host: '169.254.169.254', port: 80 } }),
    target({ address: '192.0.2.9', isOnNodeNetwork: true }),
  );
  expect(outcome).toEqual({
    type: 'failure',
    output: 'Get "http://169.254.169.254/": address not allowed: 169.254.169.254 is a link-local address',
  });
});

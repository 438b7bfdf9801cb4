/** Tests the proxy with real sockets in front of a backend that shows its requests. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestOptions, request, type Server } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { request as tlsRequest } from 'node:https';
import { type AddressInfo, connect as connectTcp, createServer as createTcpServer } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LOOPBACK_GUARD } from '../../../../test/support/loopback-guard.ts';
import { testAuthority } from '../../../../test/support/tls.ts';
import { silent } from '../../../base/log.ts';
import { DialGuard } from '../../../base/sockets/dial/dial-guard.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { EMPTY_CONFIG, type IngressConfig } from '../config.ts';
import { IngressProxy } from './proxy.ts';

const authority = await testAuthority();
/** Issues a certificate; its purpose does not matter here. */
const certificateFor = (name: string) => authority.client(name);

let backend: Server;
let proxy: IngressProxy;
let port: number;
let config: IngressConfig;

beforeEach(async () => {
  backend = createServer(async (incoming, outgoing) => {
    if (incoming.url === '/slow') {
      outgoing.write('first');
      return;
    }
    const { method, url, headers } = incoming;
    outgoing.setHeader('Set-Cookie', ['a=1', 'b=2']);
    outgoing.end(JSON.stringify({ method, url, headers, body: await text(incoming) }));
  });
  backend.on('upgrade', (_, socket, head) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    socket.write(head);
    socket.pipe(socket);
  });
  backend.listen(0, '127.0.0.1');
  await once(backend, 'listening');
  proxy = new IngressProxy({ clock: systemClock, log: silent, guard: LOOPBACK_GUARD });
  port = (await proxy.listen('http', { address: '127.0.0.1', port: 0 })).port;
  const rules = ['web', 'empty', 'dead', 'half'].map((name) => ({
    path: `/${name}`,
    type: 'Prefix' as const,
    backend: name,
  }));
  config = {
    ...EMPTY_CONFIG,
    hosts: new Map([
      ['shop.test', [{ path: '/', type: 'Prefix', backend: 'web' }]],
      ['', rules],
    ]),
    backends: new Map([
      ['web', [{ address: '127.0.0.1', port: portOf(backend) }]],
      ['empty', []],
      ['dead', [{ address: '127.0.0.1', port: 1 }]],
      ['half', [...Array(2).fill({ address: '127.0.0.1', port: 1 }), { address: '127.0.0.1', port: portOf(backend) }]],
    ]),
  };
  proxy.use(config);
});

afterEach(async () => {
  await proxy.close();
  backend.close();
  backend.closeAllConnections();
});

const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;

async function ask(path: string, options: RequestOptions = {}, body = '') {
  const call = request({ host: '127.0.0.1', port, path, ...options });
  call.end(body);
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

describe('a request', () => {
  it('arrives as it was sent, with where it came from', async () => {
    const sent = {
      host: 'shop.test',
      'x-forwarded-for': '192.0.2.9',
      connection: 'close, x-private',
      'x-private': '1',
    };
    const { status, headers, body } = await ask('/a%20b?c=d', { method: 'PUT', headers: sent }, 'content');
    expect(status).toBe(200);
    expect(headers['set-cookie']).toEqual(['a=1', 'b=2']);
    const seen = JSON.parse(body);
    expect(seen).toMatchObject({ method: 'PUT', url: '/a%20b?c=d', body: 'content' });
    expect(seen.headers).toMatchObject({
      ...{ host: 'shop.test', 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' },
      ...{ 'x-forwarded-host': 'shop.test', 'x-forwarded-port': String(port), 'x-real-ip': '127.0.0.1' },
    });
    expect(seen.headers['x-private']).toBeUndefined();
  });

  it.each([
    ['/nowhere', 404, 'no rule of an Ingress matches'],
    ['/empty', 503, 'has no ready endpoints'],
    ['/dead', 502, 'did not respond'],
  ])('for %s is answered with %i', async (path, status, message) => {
    const answer = await ask(path);
    expect(answer.status).toBe(status);
    expect(answer.body).toContain(message);
  });

  it('is answered while the answer is written', async () => {
    const call = request({ host: '127.0.0.1', port, path: '/slow', headers: { host: 'shop.test' } });
    call.end();
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    const [first] = await once(response, 'data');
    expect(String(first)).toBe('first');
    call.destroy();
  });

  it('follows new rules', async () => {
    proxy.use({ ...config, hosts: new Map() });
    expect((await ask('/web')).status).toBe(404);
  });
});

describe('another endpoint is asked', () => {
  it('when one refuses connections, and gets the whole request', async () => {
    for (let i = 0; i < 3; i++) {
      const { status, body } = await ask('/half', { method: 'POST' }, 'content');
      expect({ status, body: JSON.parse(body).body }).toEqual({ status: 200, body: 'content' });
    }
  });

  it('when an idle connection is closed in the moment that it is used, unless the request may not be repeated', async () => {
    let asked = 0;
    const closing = createTcpServer((socket) => {
      let isFirst = true;
      socket.on('data', () => {
        if (isFirst) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        else socket.destroy();
        isFirst = false;
        asked++;
      });
    }).listen(0, '127.0.0.1');
    await once(closing, 'listening');
    proxy.use({ ...config, backends: new Map([['web', [{ address: '127.0.0.1', port: portOf(closing) }]]]) });
    for (let i = 0; i < 3; i++) expect(await ask('/web')).toMatchObject({ status: 200, body: 'ok' });
    expect(asked).toBe(5);
    expect(await ask('/web', { method: 'POST' }, 'content')).toMatchObject({ status: 502 });
    closing.close();
  });
});

it('a request is forwarded before its body has come', async () => {
  const call = request({ host: '127.0.0.1', port, path: '/slow', method: 'POST', headers: { host: 'shop.test' } });
  call.flushHeaders();
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  call.destroy();
});

/** Starts a backend that gives the same answer to everything. Resolves with its input, once that contains `end`. */
async function answering(answer: string) {
  let got = '';
  let onData = () => {};
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      got += bytes.toString('latin1');
      socket.write(answer, 'latin1');
      onData();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const backends = new Map([['web', [{ address: '127.0.0.1', port: portOf(server) }]]]);
  const gets = (end: string) =>
    new Promise<string>((resolve) => {
      onData = () => got.includes(end) && resolve(got);
      onData();
    });
  return { backends, gets, close: () => server.close() };
}

it.each([
  ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\ninner\r\n0\r\n\r\n', 'transfer-encoding: chunked'],
  [
    'whose length is said to be of the connection',
    'Connection: content-length\r\nContent-Length: 5\r\n\r\ninner',
    'content-length: 5',
  ],
])('a body of a GET %s cannot be taken for another request', async (_what, rest, framing) => {
  const { backends, gets, close } = await answering('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  proxy.use({ ...config, backends });
  const socket = connectTcp(port, '127.0.0.1');
  socket.write(`GET /web HTTP/1.1\r\nHost: x\r\n${rest}`);
  expect((await gets('inner')).toLowerCase()).toContain(`\r\n${framing}\r\n`);
  socket.destroy();
  close();
});

it('a body is not announced with an upgrade, which has none', async () => {
  const { backends, gets, close } = await answering('HTTP/1.1 404 X\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n');
  proxy.use({ ...config, backends });
  const socket = connectTcp(port, '127.0.0.1');
  socket.write('GET /web HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\nContent-Length: 9\r\n\r\n');
  expect(await gets('\r\n\r\n')).not.toMatch(/content-length/i);
  expect(await text(socket)).toBe('HTTP/1.1 404 X\r\nConnection: close\r\n\r\n');
  close();
});

it.each([
  ['000 X', 502],
  ['099 X', 502],
  ['101 X', 502],
  ['999 X', 502],
  ['200 \x01', 502],
  ['200 \xff', 200],
])('an answer with the status %j is %i', async (line, status) => {
  const { backends, close } = await answering(`HTTP/1.1 ${line}\r\nContent-Length: 0\r\n\r\n`);
  proxy.use({ ...config, backends });
  expect((await ask('/web')).status).toBe(status);
  close();
});

it('a connection can become another protocol', async () => {
  const headers = { host: 'shop.test', connection: 'Upgrade', upgrade: 'echo' };
  const call = request({ host: '127.0.0.1', port, path: '/', headers });
  call.end();
  const [response, socket] = await once(call, 'upgrade');
  expect(response.statusCode).toBe(101);
  socket.write('ping');
  expect(String((await once(socket, 'data'))[0])).toBe('ping');
  socket.destroy();
});

describe('HTTPS', () => {
  async function ask(servername: string) {
    const call = tlsRequest({
      ...{ host: '127.0.0.1', port: tlsPort, path: '/web', servername, rejectUnauthorized: false, agent: false },
      headers: { host: servername },
    });
    call.end();
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    const { subject } = (response.socket as TLSSocket).getPeerCertificate();
    return { name: subject.CN, body: JSON.parse(await text(response)) };
  }
  let tlsPort: number;
  beforeEach(async () => {
    tlsPort = (await proxy.listen('https', { address: '127.0.0.1', port: 0 })).port;
    const certificates = await Promise.all(
      [['a.test'], ['*.wild.test']].map(async (hosts) => ({ hosts, ...(await certificateFor(hosts[0]!)) })),
    );
    proxy.use({ ...config, certificates });
  });

  it('has the certificate of the name', async () => {
    const { name, body } = await ask('a.test');
    expect(name).toBe('a.test');
    expect(body.headers['x-forwarded-proto']).toBe('https');
    expect((await ask('x.wild.test')).name).toBe('*.wild.test');
  });

  it('has HTTP/2 for clients that have it', async () => {
    const options = { servername: 'a.test', rejectUnauthorized: false };
    const session = connectHttp2(`https://127.0.0.1:${tlsPort}`, options);
    const call = session.request({ ':path': '/web?a=b', ':method': 'POST', ':authority': 'a.test' });
    call.end('content');
    const [headers] = await once(call, 'response');
    expect(headers).toMatchObject({ ':status': 200, 'set-cookie': ['a=1', 'b=2'] });
    const seen = JSON.parse(await text(call));
    expect(seen).toMatchObject({ method: 'POST', url: '/web?a=b', body: 'content' });
    expect(seen.headers).toMatchObject({ host: 'a.test', 'x-forwarded-proto': 'https', 'x-real-ip': '127.0.0.1' });
    const missing = session.request({ ':path': '/empty', ':authority': 'a.test' });
    expect((await once(missing, 'response'))[0][':status']).toBe(503);
    await proxy.close();
    await once(session, 'close');
  });

  it('has repeated headers as one over HTTP/2, and none of the connection', async () => {
    const lines = ['Location: a', 'Location: b', 'HTTP2-Settings: x', 'Content-Length: 0'].join('\r\n');
    const { backends, close } = await answering(`HTTP/1.1 200 OK\r\n${lines}\r\n\r\n`);
    proxy.use({ ...config, backends, certificates: [{ hosts: [], ...(await certificateFor('a.test')) }] });
    const options = { servername: 'a.test', rejectUnauthorized: false };
    const session = connectHttp2(`https://127.0.0.1:${tlsPort}`, options);
    const call = session.request({ ':path': '/web', ':authority': 'a.test' });
    const [headers] = await once(call, 'response');
    expect(headers).toMatchObject({ ':status': 200, location: 'a, b' });
    expect(headers['http2-settings']).toBeUndefined();
    session.destroy();
    close();
  });

  it('upgrades connections, too', async () => {
    const call = tlsRequest({
      ...{ host: '127.0.0.1', port: tlsPort, path: '/web', servername: 'a.test', rejectUnauthorized: false },
      headers: { connection: 'Upgrade', upgrade: 'echo' },
    });
    call.end();
    const [response, socket] = await once(call, 'upgrade');
    expect(response.statusCode).toBe(101);
    socket.write('ping');
    expect(String((await once(socket, 'data'))[0])).toBe('ping');
    socket.destroy();
  });

  it('has no connection for other names, and a new certificate counts at once', async () => {
    await expect(ask('b.test')).rejects.toThrow();
    proxy.use({ ...config, certificates: [{ hosts: [], ...(await certificateFor('default.test')) }] });
    expect((await ask('b.test')).name).toBe('default.test');
  });
});

/** Names lead to the addresses of the resolver; listeners on loopback stand for services of this machine only. */
describe('backends at addresses that are not allowed', () => {
  const guard = new DialGuard({
    ownAddresses: () => ['127.0.0.2'],
    allowedRanges: [],
    resolve: (_, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
  });

  it.each(['127.0.0.1', 'localhost', 'inside.example', '169.254.169.254', '::ffff:127.0.0.1'])(
    'are not asked: %s',
    async (address) => {
      let connections = 0;
      backend.on('connection', () => connections++);
      await proxy.close();
      proxy = new IngressProxy({ clock: systemClock, log: silent, guard });
      port = (await proxy.listen('http', { address: '127.0.0.1', port: 0 })).port;
      proxy.use({ ...config, backends: new Map([['web', [{ address, port: portOf(backend) }]]]) });
      const answer = await ask('/web/victim', { headers: { host: 'localhost' } });
      expect([answer.status, connections]).toEqual([502, 0]);
    },
  );
});

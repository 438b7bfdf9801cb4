import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, get, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isAccepted } from './filter.ts';
import { expressions } from './flags.ts';
import { createForwarder, type Forwarder } from './forward.ts';
import { createProxy } from './proxy.ts';

const filter = {
  acceptPaths: expressions('^.*'),
  rejectPaths: expressions('^/api/.*/pods/.*/exec,^/api/.*/pods/.*/attach'),
  acceptHosts: expressions('^localhost$,^127\\.0\\.0\\.1$,^\\[::1\\]$'),
  rejectMethods: expressions('^$'),
};

describe('the filter', () => {
  const asked = { method: 'GET', path: '/api/v1/pods', host: 'localhost:8001' };
  it.each<[string, boolean, object, object?]>([
    ['what is usual', true, {}],
    ['an IPv6 address', true, { host: '[::1]:8001' }],
    ['a host without a port', true, { host: '127.0.0.1' }],
    ['another host', false, { host: 'evil.example' }],
    ['a host that only begins so', false, { host: 'localhost.evil.example:8001' }],
    ['no host', false, { host: '' }],
    ['a page of this machine', true, { origin: 'http://localhost:3000' }],
    ['a page of elsewhere', false, { origin: 'https://evil.example' }],
    ['a page of nowhere', false, { origin: 'null' }],
    ['exec', false, { path: '/api/v1/namespaces/x/pods/p/exec' }],
    ['exec with an escape', false, { path: '/api/v1/namespaces/x/pods/p/%65xec' }],
    ['a broken escape', false, { path: '/api/%zz' }],
    ['a method', false, { method: 'DELETE' }, { rejectMethods: expressions('POST,DELETE') }],
    ['a path that nobody named', false, {}, { acceptPaths: expressions('^/version$') }],
  ])('%s: %s', (_, accepted, given, other = {}) => {
    expect(isAccepted({ ...filter, ...other }, { ...asked, ...given })).toBe(accepted);
  });
});

describe('the proxy', () => {
  let upstream: Server;
  let proxy: Server;
  let forwarder: Forwarder;
  let seen: IncomingMessage[];
  let files: string;

  const portOf = (server: Server) => (server.address() as AddressInfo).port;
  const listen = async (server: Server) => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  };

  beforeEach(async () => {
    seen = [];
    files = await mkdtemp(join(tmpdir(), 'qd-proxy-'));
    upstream = createServer((incoming, outgoing) => {
      seen.push(incoming);
      if (incoming.url === '/watch') {
        outgoing.writeHead(200, { 'content-type': 'application/json' });
        outgoing.write('{"n":1}\n');
        return;
      }
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk) => chunks.push(chunk));
      incoming.on('end', () => outgoing.writeHead(201, { 'x-own': 'yes' }).end(Buffer.concat(chunks)));
    });
    upstream.on('upgrade', (incoming, socket) => {
      seen.push(incoming);
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello ');
      socket.pipe(socket);
    });
    await listen(upstream);
    await start();
  });
  afterEach(async () => {
    forwarder.close();
    for (const server of [proxy, upstream]) {
      server.close();
      server.closeAllConnections();
    }
    await rm(files, { recursive: true });
  });

  async function start(given: object = {}) {
    const connection = { server: `http://127.0.0.1:${portOf(upstream)}/base`, token: 'secret' };
    forwarder = createForwarder({ connection, appendServerPath: 'appendServerPath' in given, keepalive: 0 });
    proxy = createProxy({ ...filter, apiPrefix: '/', wwwPrefix: '/static/', www: files, ...given }, forwarder);
    await listen(proxy);
  }

  async function ask(path: string, headers: Record<string, string> = {}, body?: string) {
    const call = request({ port: portOf(proxy), path, headers, method: body === undefined ? 'GET' : 'POST' });
    call.end(body);
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response) text += chunk;
    return { code: response.statusCode, headers: response.headers, text };
  }

  it('forwards a request with credentials, and returns the response', async () => {
    const { code, headers, text } = await ask('/api/v1?x=1', { 'x-mine': '1', connection: 'close' }, 'body');
    expect({ code, text, own: headers['x-own'] }).toEqual({ code: 201, text: 'body', own: 'yes' });
    const [request] = seen;
    expect(request?.url).toBe('/api/v1?x=1');
    expect(request?.headers).toMatchObject({ authorization: 'Bearer secret', 'x-mine': '1' });
    expect(request?.headers.host).toBe(`127.0.0.1:${portOf(upstream)}`);
  });

  it('keeps the credentials of the client', async () => {
    await ask('/api', { authorization: 'Bearer own' });
    expect(seen[0]?.headers.authorization).toBe('Bearer own');
  });

  it('streams events, and ends with the client', async () => {
    const call = get({ port: portOf(proxy), path: '/watch' });
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    const [chunk] = await once(response, 'data');
    expect(String(chunk)).toBe('{"n":1}\n');
    const gone = once(seen[0]!.socket, 'close');
    call.destroy();
    await gone;
  });

  it('forwards upgraded connections', async () => {
    const socket = connect(portOf(proxy), '127.0.0.1');
    socket.write('GET /exec HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
      if (text.endsWith('hello ')) socket.write('world');
      if (text.endsWith('world')) socket.end();
    });
    await once(socket, 'close');
    expect(text).toMatch(/^HTTP\/1\.1 101 .*\r\n\r\nhello world$/s);
    expect(seen[0]?.headers).toMatchObject({ authorization: 'Bearer secret', upgrade: 'echo' });
  });

  it.each([
    [
      'in chunks',
      'Transfer-Encoding: chunked',
      (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    ],
    [
      'of a length that is meant for the proxy',
      'Connection: content-length\r\nContent-Length: 69',
      (body: string) => body,
    ],
  ])('passes the body of a GET on as a body: %s', async (_, headers, framed) => {
    const hidden = 'GET /api/v1/namespaces/x/pods/p/exec HTTP/1.1\r\nHost: localhost   \r\n\r\n';
    const socket = connect(portOf(proxy), '127.0.0.1');
    socket.write(`GET /api HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n\r\n${framed(hidden)}`);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 201 /);
    socket.destroy();
    expect((await ask('/next')).code).toBe(201);
    expect(seen.map(({ url }) => url)).toEqual(['/api', '/next']);
  });

  it('answers 502 where HTTP does not allow the response', async () => {
    upstream.removeAllListeners('request');
    upstream.on('request', ({ socket }) => socket.end('HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n'));
    expect(await ask('/api')).toMatchObject({ code: 502, text: 'the server cannot be reached: invalid response\n' });
  });

  it('rejects what the filter does not accept, including upgrades', async () => {
    expect(await ask('/api', { host: 'evil.example' })).toMatchObject({ code: 403, text: 'Forbidden\n' });
    const socket = connect(portOf(proxy), '127.0.0.1');
    socket.write('GET /api/v1/x/pods/p/exec HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 403 /);
    socket.destroy();
    expect(seen).toEqual([]);
  });

  it('serves files of the directory, and no others', async () => {
    await writeFile(join(files, 'a.html'), '<p>');
    await mkdir(join(files, 'sub'));
    await writeFile(join(files, 'sub', 'index.html'), 'index');
    await symlink('/etc/hostname', join(files, 'out'));
    expect(await ask('/static/a.html')).toMatchObject({ code: 200, text: '<p>' });
    expect((await ask('/static/sub/')).text).toBe('index');
    for (const path of ['/static/none', '/static/..%2f..%2fetc/hostname', '/static/out', '/static/%00', '/static/%zz'])
      expect((await ask(path)).code).toBe(404);
  });

  it('removes its prefix, and serves nothing outside of it', async () => {
    await new Promise((resolve) => proxy.close(resolve));
    await start({ apiPrefix: '/cluster/' });
    expect((await ask('/cluster/api/v1?x')).code).toBe(201);
    expect(seen[0]?.url).toBe('/api/v1?x');
    expect((await ask('/api/v1')).code).toBe(404);
  });

  it("puts the path of the server's address before others when it is told to", async () => {
    await new Promise((resolve) => proxy.close(resolve));
    await start({ appendServerPath: true });
    await ask('/api');
    expect(seen[0]?.url).toBe('/base/api');
  });

  describe('with two servers', () => {
    let other: Server;
    let got: { readonly method: string | undefined; readonly url: string | undefined; readonly body: string }[];
    /** Resolves when the failed server may be given up. */
    let replaced: Promise<boolean>;
    beforeEach(async () => {
      got = [];
      replaced = Promise.resolve(true);
      other = createServer(async (incoming, outgoing) => {
        let body = '';
        for await (const chunk of incoming) body += chunk;
        got.push({ method: incoming.method, url: incoming.url, body });
        outgoing.end('other');
      });
      other.on('upgrade', (_, socket) => {
        socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nother');
      });
      await listen(other);
      const connection = { server: `http://127.0.0.1:${portOf(upstream)}` };
      const choice = {
        server: connection.server,
        async isReplaced(failed: string) {
          if (failed !== connection.server || !(await replaced)) return false;
          this.server = `http://127.0.0.1:${portOf(other)}`;
          return true;
        },
      };
      forwarder = createForwarder({ connection, servers: choice, appendServerPath: false, keepalive: 0 });
      await new Promise((resolve) => proxy.close(resolve));
      proxy = createProxy({ ...filter, apiPrefix: '/', wwwPrefix: '/static/', www: files }, forwarder);
      await listen(proxy);
    });
    afterEach(() => {
      other.close();
      other.closeAllConnections();
    });

    const dies = async () => {
      upstream.close();
      upstream.closeAllConnections();
    };

    it('sends what a dead one has not seen to the other one, with its body', async () => {
      await dies();
      expect(await ask('/a', {}, 'body')).toMatchObject({ code: 200, text: 'other' });
      expect(await ask('/b')).toMatchObject({ code: 200, text: 'other' });
      expect(got).toEqual([
        { method: 'POST', url: '/a', body: 'body' },
        { method: 'GET', url: '/b', body: '' },
      ]);
    });

    it('repeats a read that has no answer, and no write', async () => {
      upstream.removeAllListeners('request');
      upstream.on('request', ({ socket }) => socket.destroy());
      expect(await ask('/a', {}, 'body')).toMatchObject({ code: 502 });
      expect(got).toEqual([]);
      expect(await ask('/b')).toMatchObject({ code: 200, text: 'other' });
    });

    it('repeats a read at the other one when the silent one is dropped', async () => {
      upstream.removeAllListeners('request');
      const arrived = once(upstream, 'request');
      const asking = ask('/a');
      await arrived;
      forwarder.drop(`http://127.0.0.1:${portOf(upstream)}`);
      expect(await asking).toMatchObject({ code: 200, text: 'other' });
    });

    it('ends watches cleanly, and breaks off other responses', async () => {
      upstream.removeAllListeners('request');
      upstream.on('request', (_, outgoing) => outgoing.write('{"n":1}\n'));
      const begin = async (path: string) => {
        const [response] = (await once(get({ port: portOf(proxy), path }), 'response')) as [IncomingMessage];
        await once(response, 'readable');
        return response;
      };
      const [watch, list] = await Promise.all([begin('/api/v1/pods?watch=true'), begin('/api/v1/pods')]);
      const ends = [watch, list].map((response) =>
        once(response.resume(), 'end').then(
          () => 'ended',
          (error) => error.code,
        ),
      );
      forwarder.drop(`http://127.0.0.1:${portOf(upstream)}`);
      expect(await Promise.all(ends)).toEqual(['ended', 'ECONNRESET']);
    });

    it('upgrades at the other one when the first one cannot be reached', async () => {
      await dies();
      const socket = connect(portOf(proxy), '127.0.0.1');
      socket.write('GET /x HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
      let text = '';
      for await (const chunk of socket) text += chunk;
      expect(text).toMatch(/^HTTP\/1\.1 101 .*other$/s);
    });
  });

  it('answers 502 when the server cannot be reached', async () => {
    upstream.closeAllConnections();
    await new Promise((resolve) => upstream.close(resolve));
    expect(await ask('/api')).toMatchObject({ code: 502, text: 'the server cannot be reached: ECONNREFUSED\n' });
    await listen(upstream);
  });
});

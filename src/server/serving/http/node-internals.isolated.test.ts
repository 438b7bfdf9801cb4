/** Checks each assumption of `node-internals.ts` about Node; `test/node-releases/` runs it on every release. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  connect as connectHttp2,
  createSecureServer,
  type Http2SecureServer,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type TestAuthority, testAuthority } from '../../../../test/support/tls.ts';
import {
  closeQueued,
  collectGarbage,
  configureHttp1,
  currentResponse,
  declineUpgrades,
  deferEnd,
  deferSessionEnd,
  discardInput,
  hasReceivedFin,
  interceptConnections,
  isPausedByNode,
  makePausable,
  omitStackTraces,
  rawChunkSocket,
  releaseSocket,
  removeHttp2Compatibility,
  responseToUpgrade,
  restartHttp1,
  trackSessionSockets,
  UPGRADE_HANDLING,
  unsentBytes,
  whenCurrent,
} from './node-internals.ts';

const MB = 1024 * 1024;

it('collects garbage when it is asked to', () => {
  const dead = new WeakRef({ buffer: Buffer.alloc(MB) });
  // A WeakRef keeps its target until the end of the turn.
  return new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
    collectGarbage();
    expect(dead.deref()).toBeUndefined();
  });
});

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const upgradeRequest = (path: string) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: other\r\nContent-Length: 4\r\n\r\nbody`;

let authority: TestAuthority;
const cleanups: (() => unknown)[] = [];
beforeAll(async () => {
  authority = await testAuthority();
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function listening(server: Server | Http2SecureServer | ReturnType<typeof createTcpServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

async function secureServer(): Promise<Http2SecureServer> {
  return createSecureServer({ ...(await authority.server()), allowHTTP1: true });
}

async function client(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  return prepared(socket, 'connect');
}

async function secureClient(port: number, protocol: 'h2' | 'http/1.1'): Promise<TLSSocket> {
  const socket = connectTls({ host: '127.0.0.1', port, ca: authority.ca, ALPNProtocols: [protocol] });
  return prepared(socket, 'secureConnect');
}

async function prepared<S extends Socket>(socket: S, event: string): Promise<S> {
  cleanups.push(() => socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, event);
  return socket;
}

/** Resolves when a connection was closed or, unlike `once`, reset. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => void socket.once('close', () => resolve()));
}

/** Collects the data of a socket until it matches. */
async function received(socket: Socket, pattern: RegExp): Promise<string> {
  let text = '';
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += chunk;
    if (pattern.test(text)) break;
  }
  return text;
}

it.each(['TCP', 'TLS'])('unsentBytes counts what the peer does not read: %s', async (transport) => {
  const server = transport === 'TCP' ? createTcpServer() : await secureServer();
  const accepted = once(server, transport === 'TCP' ? 'connection' : 'secureConnection');
  const port = await listening(server);
  const peer = transport === 'TCP' ? await client(port) : await secureClient(port, 'http/1.1');
  peer.pause();
  const [socket] = (await accepted) as [Socket];
  expect(unsentBytes(socket)).toBe(0);
  socket.write(Buffer.alloc(16 * MB));
  expect(unsentBytes(socket) + socket.writableLength).toBeGreaterThan(MB);
  await expect.poll(() => unsentBytes(socket)).toBeGreaterThan(MB);
  peer.resume();
  await once(socket, 'drain');
  await expect.poll(() => unsentBytes(socket)).toBe(0);
  socket.destroy();
  expect(unsentBytes(socket)).toBe(0);
});

it('hasReceivedFin sees the end before everything was read', async () => {
  const server = createTcpServer();
  const accepted = once(server, 'connection');
  const peer = await client(await listening(server));
  const [socket] = (await accepted) as [Socket];
  let readable = 0;
  socket.on('readable', () => readable++);
  peer.write('something');
  await expect.poll(() => readable).toBe(1);
  expect(hasReceivedFin(socket)).toBe(false);
  peer.end();
  await expect.poll(() => hasReceivedFin(socket)).toBe(true);
  expect(readable).toBeGreaterThan(1);
  expect(socket.readableEnded).toBe(false);
  socket.destroy();
});

it('omitStackTraces lasts until the end of the turn', async () => {
  const { stackTraceLimit } = Error;
  omitStackTraces();
  omitStackTraces();
  expect(new Error('short').stack).toBe('Error: short');
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect(Error.stackTraceLimit).toBe(stackTraceLimit);
  expect(new Error('long').stack).toContain('\n');
});

describe('connections that clients close', () => {
  describe.each(['TCP', 'TLS'])('over %s', (transport) => {
    async function deferring() {
      const server = transport === 'TCP' ? createServer() : await secureServer();
      const deferred: (() => void)[] = [];
      server.on(transport === 'TCP' ? 'connection' : 'secureConnection', (socket: Socket) =>
        deferEnd(socket, (close) => deferred.push(close)),
      );
      const port = await listening(server);
      return {
        server,
        deferred,
        peer: transport === 'TCP' ? await client(port) : await secureClient(port, 'http/1.1'),
      };
    }

    it('deferEnd keeps the request open until its caller closes the connection', async () => {
      const { server, deferred, peer } = await deferring();
      const request = once(server, 'request');
      peer.write(GET);
      const [, response] = (await request) as [IncomingMessage, ServerResponse];
      peer.resume().end();
      await expect.poll(() => deferred.length).toBe(1);
      // Node would have closed it in one of these turns.
      for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
      expect(response.destroyed).toBe(false);
      const ended = Promise.all([once(response, 'close'), closed(peer)]);
      deferred[0]!();
      await ended;
    });

    it('deferEnd ends with the protocol', async () => {
      const { server, deferred, peer } = await deferring();
      const upgrade = once(server, 'upgrade');
      peer.write(upgradeRequest('/'));
      const [, socket] = (await upgrade) as [IncomingMessage, Socket];
      const ended = once(socket.resume(), 'end');
      peer.end();
      await ended;
      expect(deferred).toEqual([]);
      socket.destroy();
    });
  });

  it('deferSessionEnd keeps the session open until its caller closes it', async () => {
    const server = await secureServer();
    const deferred: (() => void)[] = [];
    server.on('secureConnection', (socket: TLSSocket) => deferSessionEnd(socket, (close) => deferred.push(close)));
    const opened = new Promise<ServerHttp2Session>((resolve) => void server.once('session', resolve));
    const socket = await secureClient(await listening(server), 'h2');
    connectHttp2('https://localhost', { createConnection: () => socket }).on('error', () => undefined);
    const session = await opened;
    // The session would say that it ends.
    socket.destroy();
    await expect.poll(() => deferred.length).toBe(1);
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
    expect(session.destroyed).toBe(false);
    const ended = once(session, 'close');
    deferred[0]!();
    await ended;
  });
});

describe('connections of a server', () => {
  it('interceptConnections leaves it to the caller when a connection is served', async () => {
    const server = createServer((_request, response) => response.end('served'));
    const serve = interceptConnections(server);
    const accepted = once(server, 'connection');
    const peer = await client(await listening(server));
    const [socket] = (await accepted) as [Socket];
    peer.write(GET);
    serve(socket);
    expect(await received(peer, /served/)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('trackSessionSockets finds the socket that the session hides', async () => {
    const server = await secureServer();
    const socketOf = trackSessionSockets(server);
    const sockets = once(server, 'secureConnection');
    const found = new Promise<[ServerHttp2Session, TLSSocket]>((resolve) => {
      server.on('session', (session) => resolve([session, socketOf(session)]));
    });
    const session = connectHttp2(`https://127.0.0.1:${await listening(server)}`, { ca: authority.ca });
    cleanups.push(() => session.destroy());
    session.on('error', () => undefined);
    const [, socket] = await found;
    expect(socket).toBe((await sockets)[0]);
    const closed = once(session, 'close');
    socket.destroy();
    await closed;
  });

  it('removeHttp2Compatibility leaves streams of HTTP/2 alone and requests of HTTP/1 as they were', async () => {
    const server = await secureServer();
    const requests: string[] = [];
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      requests.push(request.httpVersion);
      response.end('1');
    });
    removeHttp2Compatibility(server);
    server.on('stream', (stream: ServerHttp2Stream) => {
      stream.respond({ ':status': 200 });
      stream.end('2');
    });
    const port = await listening(server);
    const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: authority.ca });
    cleanups.push(() => session.destroy());
    const stream = session.request({ ':path': '/' });
    const [text] = await once(stream.setEncoding('utf8'), 'data');
    expect(text).toBe('2');
    const peer = await secureClient(port, 'http/1.1');
    peer.write(GET);
    expect(await received(peer, /1$/)).toMatch(/^HTTP\/1\.1 200 /);
    expect(requests).toEqual(['1.1']);
  });

  describe.each(['TCP', 'TLS'])('configureHttp1 sets over %s', (transport) => {
    async function configured(options: Parameters<typeof configureHttp1>[1]) {
      const server = transport === 'TCP' ? createServer() : await secureServer();
      configureHttp1(server, options);
      const errors: string[] = [];
      server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
        errors.push(error.code ?? '');
        socket.destroy();
      });
      server.on('request', (_request: IncomingMessage, response: ServerResponse) => void response.end());
      const port = await listening(server);
      const open = () => (transport === 'TCP' ? client(port) : secureClient(port, 'http/1.1'));
      return { open, errors };
    }

    it('what the parser enforces', async () => {
      const { open, errors } = await configured({ maxHeaderSize: 2048, requireHostHeader: true });
      const [large, nameless] = [await open(), await open()];
      large.write(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(3000)}\r\n\r\n`);
      await closed(large);
      expect(errors).toEqual(['HPE_HEADER_OVERFLOW']);
      nameless.write('GET / HTTP/1.1\r\n\r\n');
      expect(await received(nameless, /\r\n\r\n/)).toMatch(/^HTTP\/1\.1 400 /);
    });

    it('how long a request may take to arrive', async () => {
      const limits = { headersTimeout: 50, requestTimeout: 100, connectionsCheckingInterval: 10 };
      const { open, errors } = await configured(limits);
      const slow = await open();
      slow.write('GET / HTTP/1.1\r\n');
      await closed(slow);
      expect(errors).toEqual(['ERR_HTTP_REQUEST_TIMEOUT']);
    });
  });

  it.each(['TCP', 'TLS'])('a shorter keepAliveTimeout applies to connections that are busy: %s', async (transport) => {
    const server = transport === 'TCP' ? createServer() : await secureServer();
    const request = once(server, 'request');
    const port = await listening(server);
    const peer = transport === 'TCP' ? await client(port) : await secureClient(port, 'http/1.1');
    peer.write(GET);
    const [, response] = (await request) as [IncomingMessage, ServerResponse];
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    configureHttp1(server, { keepAliveTimeout: 1 });
    response.end('x');
    const ended = once(peer.resume(), 'close');
    await Promise.all([closed, ended]);
    expect(server.listening).toBe(false);
  });
});

describe('upgrades', () => {
  function collect(server: Server | Http2SecureServer, count: number): Promise<string[]> {
    const found: string[] = [];
    return new Promise((resolve) => {
      server.on('request', (request: IncomingMessage, response: ServerResponse) => {
        let body = '';
        request.setEncoding('utf8').on('data', (chunk) => {
          body += chunk;
        });
        request.on('end', () => {
          response.end();
          if (found.push(`${request.url} ${body}`) === count) resolve(found);
        });
      });
    });
  }

  // Skipped where this release replays upgrades instead.
  it.skipIf(UPGRADE_HANDLING !== 'decline').each(['TCP', 'TLS'])(
    'that are declined are ordinary requests: %s',
    async (transport) => {
      const server = transport === 'TCP' ? createServer() : await secureServer();
      const paths = collect(server, 2);
      let upgrades = 0;
      server.on('upgrade', (_request: IncomingMessage, socket: Socket) => {
        upgrades++;
        socket.destroy();
      });
      declineUpgrades(server, ({ url }) => url === '/accepted');
      const port = await listening(server);
      const open = () => (transport === 'TCP' ? client(port) : secureClient(port, 'http/1.1'));
      const peer = await open();
      peer.write(upgradeRequest('/'));
      // Anything in the same segment would be lost.
      await received(peer, /^HTTP.1.1 200/);
      peer.write('GET /2 HTTP/1.1\r\nHost: x\r\n\r\n');
      expect(await paths).toEqual(['/ body', '/2 ']);
      expect(upgrades).toBe(0);
      const other = await open();
      other.write(upgradeRequest('/accepted'));
      await once(other.resume(), 'close');
      expect(upgrades).toBe(1);
    },
  );

  // Skipped where this release declines upgrades instead.
  it.skipIf(UPGRADE_HANDLING !== 'replay').each(['TCP', 'TLS'])(
    'that are put back are parsed again, with what follows them: %s',
    async (transport) => {
      const secure = transport === 'TLS' ? await secureServer() : undefined;
      const server = secure ?? createServer();
      const paths = collect(server, 2);
      const serve = interceptConnections(server);
      server.on('connection', serve);
      server.on('upgrade', (_request: IncomingMessage, socket: Socket, head: Buffer) => {
        const again = Buffer.from('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n');
        socket.unshift(Buffer.concat([again, head]));
        if (secure) restartHttp1(secure, socket);
        else serve(socket);
      });
      const port = await listening(server);
      const peer = secure ? await secureClient(port, 'http/1.1') : await client(port);
      peer.write(`${upgradeRequest('/')}GET /2 HTTP/1.1\r\nHost: x\r\n\r\n`);
      expect(await paths).toEqual(['/ body', '/2 ']);
    },
  );

  it('can be answered over HTTP, and the socket be taken away again', async () => {
    const server = createServer();
    const sockets: Socket[] = [];
    server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
      const response = responseToUpgrade(request, socket);
      if (sockets.push(socket) === 1) response.end('no');
      else {
        releaseSocket(response, socket);
        expect(response.socket).toBeNull();
        socket.end('raw');
      }
    });
    const port = await listening(server);
    const request = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
    const first = await client(port);
    first.write(request);
    expect(await received(first, /no$/)).toMatch(/^HTTP\/1\.1 200 [\s\S]*Connection: close/);
    const second = await client(port);
    second.write(request);
    expect(await received(second, /raw$/)).toBe('raw');
    sockets[0]!.destroy();
  });
});

describe('pipelined requests', () => {
  /** Sends two requests at once and hands over their responses. */
  async function pipelined(): Promise<{ peer: Socket; socket: Socket; responses: ServerResponse[] }> {
    const server = createServer();
    const responses: ServerResponse[] = [];
    const both = new Promise<void>((resolve) => {
      server.on('request', (_request, response) => {
        if (responses.push(response) === 2) resolve();
      });
    });
    const peer = await client(await listening(server));
    peer.write(GET + GET);
    await both;
    return { peer, socket: responses[0]!.req.socket, responses };
  }

  it('have one current response, and the next one gets the socket after it', async () => {
    const { peer, socket, responses } = await pipelined();
    const [first, second] = responses as [ServerResponse, ServerResponse];
    expect(currentResponse(socket)).toBe(first);
    expect(first.socket).toBe(socket);
    expect(second.socket).toBeNull();
    const current = new Promise<void>((resolve) => whenCurrent(second, resolve));
    first.end('1');
    await current;
    expect(currentResponse(socket)).toBe(second);
    second.end('2');
    await once(second, 'close');
    expect(currentResponse(socket)).toBeUndefined();
    peer.destroy();
  });

  it.each(['plain', 'TLS'])('a pausable connection over %s stops at pause(), and loses nothing', async (kind) => {
    const server = kind === 'TLS' ? await secureServer() : createServer();
    const responses: ServerResponse[] = [];
    let paused: Socket | undefined;
    let isPaused = true;
    const onRequest = (request: IncomingMessage, response: ServerResponse) => {
      responses.push(response);
      if (paused) return;
      paused = request.socket;
      makePausable(paused, () => isPaused);
      paused.pause();
    };
    (server as Server).on('request', onRequest);
    const port = await listening(server);
    const socket = kind === 'TLS' ? await secureClient(port, 'http/1.1') : await client(port);
    const count = 10_000;
    socket.write(GET.repeat(count));
    while (!paused) await new Promise((resolve) => setImmediate(resolve));
    const before = responses.length;
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
    expect(responses.length).toBe(before);
    expect(isPausedByNode(paused)).toBe(false);
    isPaused = false;
    paused.resume();
    while (responses.length < count) await new Promise((resolve) => setImmediate(resolve));
  });

  it('a connection whose responses are not read is paused by Node, and resumed', async () => {
    const server = await secureServer();
    let connection: Socket | undefined;
    let answered = 0;
    (server as unknown as Server).on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (!connection) makePausable(request.socket, () => false);
      connection = request.socket;
      answered++;
      response.end(Buffer.alloc(16 * 1024));
    });
    const socket = await secureClient(await listening(server), 'http/1.1');
    socket.pause();
    const count = 2_000;
    socket.write(GET.repeat(count));
    while (!connection || !isPausedByNode(connection)) await new Promise((resolve) => setImmediate(resolve));
    expect(answered).toBeLessThan(count);
    socket.resume();
    while (answered < count) await once(socket, 'data');
  });

  it('that wait are closed once, by closeQueued at the latest', async () => {
    const { peer, responses } = await pipelined();
    const [first, second] = responses as [ServerResponse, ServerResponse];
    const closed = once(first, 'close');
    let closes = 0;
    second.on('close', () => closes++);
    peer.destroy();
    await closed;
    closeQueued(second);
    expect(closes).toBe(1);
    expect(second.destroyed).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(closes).toBe(1);
  });

  it.each(['TCP', 'TLS'])('the parser sees nothing after discardInput: %s', async (transport) => {
    const server = transport === 'TCP' ? createServer() : await secureServer();
    let errors = 0;
    server.on('clientError', (_error, socket: Socket) => {
      errors++;
      discardInput(socket);
      socket.write('rejected');
    });
    const port = await listening(server);
    const peer = transport === 'TCP' ? await client(port) : await secureClient(port, 'http/1.1');
    peer.write('nonsense\r\n\r\n');
    await received(peer, /rejected/);
    peer.write('nonsense\r\n\r\n'.repeat(100_000));
    peer.end();
    await once(peer.resume(), 'close');
    expect(errors).toBe(1);
  });

  it('a chunk that was framed by hand reads like one of Node, in order', async () => {
    const server = createServer();
    const request = once(server, 'request');
    const peer = await client(await listening(server));
    peer.write(GET);
    const [, response] = (await request) as [IncomingMessage, ServerResponse];
    expect(rawChunkSocket(response)).toBeUndefined();
    response.writeHead(200);
    response.flushHeaders();
    await new Promise((resolve) => response.write('one ', resolve));
    const socket = rawChunkSocket(response)!;
    expect(socket).toBe(response.socket);
    socket.write('4\r\ntwo \r\n');
    response.write('three');
    const overtaking = rawChunkSocket(response);
    if (overtaking) overtaking.write('4\r\nfour\r\n');
    else response.write('four');
    response.end();
    const text = await received(peer, /\r\n0\r\n\r\n$/);
    const chunks = text.split('\r\n\r\n')[1]!.split('\r\n');
    expect(chunks.filter((_line, index) => index % 2 === 1).join('')).toBe('one two threefour');
  });

  it('a response with a length is never written by hand', async () => {
    const server = createServer();
    const request = once(server, 'request');
    const peer = await client(await listening(server));
    peer.write(GET);
    const [, response] = (await request) as [IncomingMessage, ServerResponse];
    response.writeHead(200, ['Content-Length', '3']);
    response.flushHeaders();
    expect(rawChunkSocket(response)).toBeUndefined();
    response.end('yes');
  });
});

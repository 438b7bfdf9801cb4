import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import {
  createServer as createHttp2,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { type AddressInfo, createServer as createPlain, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { fc, forAllAsync } from '../../../test/support/property-runs.ts';
import { withResolvers } from '../../base/event-loop/with-resolvers.ts';
import { ControlledClock, systemClock } from '../../base/time/clock.ts';
import type { Method } from './call.ts';
import { prefixed } from './call.ts';
import { GrpcClient, type GrpcClientOptions } from './client.ts';
import { Flag, FrameType, frame } from './frames.ts';
import { type GrpcError, GrpcStatus } from './status.ts';

/** A method whose messages are raw bytes. */
const bytesTo = (path: string): Method<Buffer, Buffer> => ({
  path,
  encode: (bytes) => bytes,
  decode: (bytes) => bytes,
});
const echo = bytesTo('/test.Echo/Once');

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function listening<S extends Server | Http2Server>(server: S): Promise<{ server: S; url: URL }> {
  (server as Server).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  return { server, url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`) };
}

/** A server on Node's own HTTP/2, which shares no code with ours. */
async function grpcServer(
  serve: (stream: ServerHttp2Stream, path: string) => void,
  settings: { maxConcurrentStreams?: number; initialWindowSize?: number } = {},
) {
  const { server, url } = await listening(createHttp2({ settings }));
  const sessions: ServerHttp2Session[] = [];
  server.on('session', (session) => sessions.push(session));
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    serve(stream, headers[':path'] ?? '');
  });
  closing.push(() => sessions.map((session) => session.destroy()));
  return { url, sessions };
}

async function connect(url: URL, options: Partial<GrpcClientOptions> = {}): Promise<GrpcClient> {
  const { signal } = new AbortController();
  const client = await GrpcClient.connect({ url, clock: systemClock, signal, ...options });
  closing.push(() => client.close());
  return client;
}

function call(client: GrpcClient, message: Buffer, method = echo): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    client.unary(method, message, (error, response) => (error ? reject(error) : resolve(response!)));
  });
}

const open = { ':status': 200, 'content-type': 'application/grpc' };

function answer(stream: ServerHttp2Stream, body: Buffer, trailers: Record<string, string> = { 'grpc-status': '0' }) {
  stream.respond(open, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.end(body);
}

async function bodyOf(stream: ServerHttp2Stream): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

const echoing = async (stream: ServerHttp2Stream) => answer(stream, await bodyOf(stream));

describe('a unary call', () => {
  it('carries messages of any size, many at once', async () => {
    const { url } = await grpcServer(echoing, { initialWindowSize: 1000 });
    const client = await connect(url);
    const sizes = fc.array(fc.oneof(fc.nat(100), fc.nat(70_000)), { minLength: 1, maxLength: 20 });
    await forAllAsync({ numRuns: 20 }, sizes, async (lengths) => {
      const messages = lengths.map((length, index) => Buffer.alloc(length, index + 1));
      const answers = await Promise.all(messages.map((message) => call(client, message)));
      // Comparing long buffers as values is slow.
      expect(answers.map((each, index) => each.equals(messages[index]!))).toEqual(messages.map(() => true));
    });
  });

  it('carries more data than the windows of both sides hold', async () => {
    const { url } = await grpcServer(echoing);
    const client = await connect(url, { maxMessageBytes: 64 * 2 ** 20 });
    const large = Buffer.alloc(40 * 2 ** 20, 7);
    for (let i = 0; i < 2; i++) expect((await call(client, large)).equals(large)).toBe(true);
  });

  it("waits for the server's limit of concurrent streams", async () => {
    let [now, most] = [0, 0];
    const { url } = await grpcServer(
      async (stream) => {
        most = Math.max(most, ++now);
        const body = await bodyOf(stream);
        setImmediate(() => {
          now--;
          answer(stream, body);
        });
      },
      { maxConcurrentStreams: 3 },
    );
    const client = await connect(url);
    const messages = Array.from({ length: 50 }, (_, index) => Buffer.from(String(index)));
    expect(await Promise.all(messages.map((message) => call(client, message)))).toEqual(messages);
    expect(most).toBeLessThanOrEqual(3);
  });

  it('rejects with the code and message of the server, whatever these are', async () => {
    let said = '';
    const { url } = await grpcServer((stream) => {
      const message = { 'grpc-status': '9', 'grpc-message': encodeURIComponent(said) };
      if (said.length % 2) answer(stream, Buffer.alloc(0), message);
      else stream.respond({ ...open, ...message }, { endStream: true });
    });
    const client = await connect(url);
    await forAllAsync({ numRuns: 50 }, fc.string({ unit: 'grapheme' }), async (text) => {
      said = text;
      await expect(call(client, Buffer.from('x'))).rejects.toMatchObject({ code: 9, message: text });
    });
  });

  it('decodes every character that a header may contain, as the server compresses it', async () => {
    // Node's HTTP/2 uses Huffman coding wherever it is shorter, as with letters that have short codes.
    const filler = 'a'.repeat(20);
    const octets = Array.from({ length: 256 }, (_, octet) => octet).filter((octet) => octet > 0x20 && octet !== 0x7f);
    const texts = octets.map((octet) => String.fromCharCode(octet)).filter((text) => text !== '%');
    let said = '';
    const { url } = await grpcServer((stream) => {
      stream.respond({ ...open, 'grpc-status': '9', 'grpc-message': said }, { endStream: true });
    });
    const client = await connect(url);
    for (const text of texts) {
      said = `${filler}${text}${filler}`;
      await expect(call(client, Buffer.from('x'))).rejects.toMatchObject({ message: said });
    }
  });

  it.each<[string, (stream: ServerHttp2Stream) => void, Partial<GrpcError>]>([
    [
      'is answered by something else',
      (s) => s.respond({ ':status': 503 }, { endStream: true }),
      { code: GrpcStatus.UNAVAILABLE },
    ],
    ['finds nobody', (s) => s.respond({ ':status': 404 }, { endStream: true }), { code: GrpcStatus.UNIMPLEMENTED }],
    ['is answered without a status', (s) => s.respond(open, { endStream: true }), { code: GrpcStatus.INTERNAL }],
    ['is answered without a message', (s) => answer(s, Buffer.alloc(0)), { code: GrpcStatus.INTERNAL }],
    ['gets a compressed answer', (s) => answer(s, Buffer.from([1, 0, 0, 0, 0])), { code: GrpcStatus.INTERNAL }],
    ['is broken off', (s) => s.close(7), { code: GrpcStatus.UNAVAILABLE }],
    ['loses its connection', (s) => s.session?.destroy(), { code: GrpcStatus.UNAVAILABLE }],
  ])('that %s fails', async (_, serve, error) => {
    const { url } = await grpcServer(serve);
    const client = await connect(url);
    await expect(call(client, Buffer.from('x'))).rejects.toMatchObject(error);
  });

  it('fails alone when its response cannot be decoded', async () => {
    const { url } = await grpcServer(echoing);
    const client = await connect(url);
    const strict: Method<Buffer, Buffer> = {
      ...echo,
      decode: () => {
        throw new Error('it is no message');
      },
    };
    const [first, second] = await Promise.allSettled([
      call(client, Buffer.from('x'), strict),
      call(client, Buffer.from('y')),
    ]);
    expect(first).toMatchObject({ reason: { code: GrpcStatus.INTERNAL, cause: { message: 'it is no message' } } });
    expect(second).toMatchObject({ value: Buffer.from('y') });
  });

  it('ends on both sides when it is cancelled', async () => {
    const seen = withResolvers<unknown>();
    const { url } = await grpcServer((stream) => stream.on('aborted', seen.resolve));
    const client = await connect(url);
    const calling = client.unary(echo, Buffer.from('x'), () => expect.unreachable());
    setImmediate(() => calling.cancel());
    await seen.promise;
  });
});

describe('a stream', () => {
  it('carries messages in both directions, however they are split', async () => {
    const { url } = await grpcServer((stream) => {
      stream.respond(open, { waitForTrailers: true });
      stream.on('data', (chunk: Buffer) => {
        for (let at = 0; at < chunk.length; at += 3) stream.write(chunk.subarray(at, at + 3));
      });
    });
    const client = await connect(url);
    const found: string[] = [];
    await new Promise<void>((resolve, reject) => {
      const stream = client.stream(bytesTo('/test.Echo/All'), {
        message: (message) => {
          if (found.push(String(message)) === 100) resolve();
        },
        ended: reject,
      });
      for (let i = 0; i < 100; i++) stream.send(Buffer.from(`message ${i}`));
    });
    expect(found).toEqual(Array.from({ length: 100 }, (_, i) => `message ${i}`));
  });

  it('receives a stream of responses to one complete request', async () => {
    const { url } = await grpcServer(async (stream) => {
      const request = await bodyOf(stream);
      answer(stream, Buffer.concat([request, request, request]));
    });
    const client = await connect(url);
    const found: unknown[] = [];
    await new Promise<void>((resolve) => {
      client.serverStream(bytesTo('/test.Echo/Thrice'), Buffer.from('three'), {
        message: (message) => found.push(String(message)),
        ended: (error) => {
          found.push(error);
          resolve();
        },
      });
    });
    expect(found).toEqual(['three', 'three', 'three', undefined]);
  });

  it('ends when the server ends it, even if the client has not', async () => {
    const reset = withResolvers<unknown>();
    const { url } = await grpcServer((stream) => {
      stream.on('close', reset.resolve);
      answer(stream, prefixed(Buffer.from('only')));
    });
    const client = await connect(url);
    const found: unknown[] = [];
    await new Promise<void>((resolve) => {
      client.stream(bytesTo('/test.Echo/All'), {
        message: (message) => found.push(String(message)),
        ended: (error) => {
          found.push(error);
          resolve();
        },
      });
    });
    expect(found).toEqual(['only', undefined]);
    await reset.promise;
  });
});

describe('a connection', () => {
  it('finishes its calls after GOAWAY, and accepts no more', async () => {
    const first = withResolvers<ServerHttp2Stream>();
    const { url, sessions } = await grpcServer((stream) => first.resolve(stream));
    const client = await connect(url);
    const calling = call(client, Buffer.from('x'));
    const stream = await first.promise;
    sessions[0]!.goaway(0, stream.id!);
    await expect.poll(() => client.isOpen).toBe(false);
    await expect(call(client, Buffer.from('y'))).rejects.toMatchObject({ code: GrpcStatus.UNAVAILABLE });
    answer(stream, prefixed(Buffer.from('z')));
    expect(String(await calling)).toBe('z');
    expect(client.isClosed).toBe(true);
  });

  it('ends with its last call when it is retired', async () => {
    const { url } = await grpcServer(echoing);
    const client = await connect(url);
    const calling = call(client, Buffer.from('x'));
    client.retire();
    expect(client.isOpen).toBe(false);
    expect(String(await calling)).toBe('x');
    expect(client.isClosed).toBe(true);
  });

  it('can be a Unix socket', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'grpc-'));
    closing.push(() => rm(directory, { recursive: true }));
    const server = createHttp2();
    server.on('stream', echoing).listen(join(directory, 'a socket'));
    await once(server, 'listening');
    closing.push(() => server.close());
    const client = await connect(new URL(`unix://${directory}/a%20socket`));
    expect(String(await call(client, Buffer.from('x')))).toBe('x');
  });

  it('fails to a closed port, or to another protocol', async () => {
    const { url } = await listening(createPlain((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));
    await expect(connect(url)).rejects.toMatchObject({ code: GrpcStatus.UNAVAILABLE });
    await expect(connect(new URL('http://127.0.0.1:1'))).rejects.toThrow('ECONNREFUSED');
    await expect(connect(new URL('ftp://127.0.0.1:1'))).rejects.toThrow(RangeError);
  });

  it('is cancelled by the signal when the server is silent', async () => {
    const { url } = await listening(createPlain());
    const giveUp = new AbortController();
    const connecting = connect(url, { signal: giveUp.signal });
    giveUp.abort(new Error('enough'));
    await expect(connecting).rejects.toThrow('enough');
  });

  it('is pinged after a long silence, and ends without an answer', async () => {
    const { url } = await mute();
    const clock = new ControlledClock();
    const client = await connect(url, { clock });
    const calling = call(client, Buffer.from('x')).catch((error) => error);
    await clock.advance(59_000);
    expect(client.isClosed).toBe(false);
    await clock.advance(12_000);
    expect(await calling).toMatchObject({ code: GrpcStatus.UNAVAILABLE, message: 'the other side does not answer' });
    expect(clock.waiting).toBe(0);
  });

  it('stays open when a ping is answered', async () => {
    const { url } = await grpcServer(() => {});
    const clock = new ControlledClock();
    const client = await connect(url, { clock });
    const calling = call(client, Buffer.from('x')).catch(() => {});
    client.probe();
    client.probe();
    expect(clock.waiting).toBe(2);
    await expect.poll(() => clock.waiting).toBe(1);
    await clock.advance(20_000);
    expect(client.isClosed).toBe(false);
    client.close();
    await calling;
  });
});

/** A peer that sends its HTTP/2 settings, and nothing more. */
function mute() {
  return listening(
    createPlain((socket: Socket) => {
      socket.resume().on('error', () => {});
      socket.write(frame({ type: FrameType.SETTINGS }, Buffer.alloc(0)));
      socket.write(frame({ type: FrameType.SETTINGS, flags: Flag.ACK }, Buffer.alloc(0)));
      closing.push(() => socket.destroy());
    }),
  );
}

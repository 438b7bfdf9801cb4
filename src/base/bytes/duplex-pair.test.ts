import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { expect, it } from 'vitest';
import { duplexPair } from './duplex-pair.ts';

it('carries bytes in both directions to their ends', async () => {
  const [a, b] = duplexPair();
  a.end('from a');
  b.end('from b');
  expect(await Promise.all([text(a), text(b)])).toEqual(['from b', 'from a']);
});

it('keeps data written before the writer was destroyed', async () => {
  const [a, b] = duplexPair();
  a.resume();
  b.end();
  a.end('last words');
  await once(a, 'close');
  expect(await text(b)).toBe('last words');
});

it('accepts no more than the other side reads', async () => {
  const [a, b] = duplexPair();
  let written = 0;
  const source = Readable.from(
    (function* () {
      for (;;) {
        written += 16_384;
        yield Buffer.alloc(16_384);
      }
    })(),
  );
  const copying = pipeline(source, a).catch(() => 'ended');
  await new Promise((resolve) => setImmediate(resolve));
  expect(written).toBeLessThan(1024 * 1024);
  b.destroy();
  expect(await copying).toBe('ended');
  expect(a.destroyed).toBe(true);
});

it('serves as the connection of an HTTP server', async () => {
  const server = createServer((asked, response) => response.end(`${asked.method} ${asked.url}`));
  const [near, far] = duplexPair();
  server.emit('connection', far);
  const call = request({ createConnection: () => near, path: '/x', headers: { connection: 'close' } }).end();
  const [response] = await once(call, 'response');
  expect(await text(response)).toBe('GET /x');
});

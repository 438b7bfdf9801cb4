import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { heapUsed } from '../../../../../test/support/heap.ts';
import { TextStream } from './text-stream.ts';

function sink(): Writable {
  return new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => setImmediate(done) });
}

it('keeps none of the chunks that it has sent', async () => {
  const chunk = Buffer.from('line\n');
  const chunks = 20_000;
  let used = 0;
  async function* lines() {
    for (let sent = 0; sent < chunks; sent++) {
      if (sent === chunks / 10) used = heapUsed();
      if (sent === chunks - 1) used = heapUsed() - used;
      yield chunk;
    }
  }
  await new TextStream(lines(), sink()).run();
  expect(used / chunks).toBeLessThan(20);
});

it('ends while it waits for a chunk, and while it waits for the client', async () => {
  async function* never() {
    await new Promise(() => undefined);
    yield Buffer.from('');
  }
  const out = sink();
  const stream = new TextStream(never(), out);
  const run = stream.run();
  stream.end();
  await run;
  expect(out.writableEnded).toBe(true);
  async function* one() {
    yield Buffer.from('line');
  }
  const stuck = new Writable({ highWaterMark: 1, write: () => undefined });
  const waiting = new TextStream(one(), stuck).run();
  stuck.destroy();
  await waiting;
});

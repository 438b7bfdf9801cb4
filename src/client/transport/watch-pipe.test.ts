import { expect, it } from 'vitest';
import type { RawEvent } from './transport.ts';
import { WatchPipe } from './watch-pipe.ts';

const event = (name: string): RawEvent => ({
  type: 'ADDED',
  object: { kind: 'Pod', apiVersion: 'v1', metadata: { name } },
});

it('delivers everything at once to a slow consumer, in order', async () => {
  const pipe = new WatchPipe();
  const batches = pipe[Symbol.asyncIterator]();
  const first = batches.next();
  pipe.push([event('a')]);
  pipe.push([event('b'), event('c')]);
  pipe.push([event('d')]);
  expect((await first).value).toEqual([event('a')]);
  expect(pipe.backlog).toBe(3);
  expect((await batches.next()).value).toEqual(['b', 'c', 'd'].map(event));
  expect(pipe.backlog).toBe(0);
  pipe.push([event('e')]);
  pipe.end();
  expect((await batches.next()).value).toEqual([event('e')]);
  expect((await batches.next()).done).toBe(true);
});

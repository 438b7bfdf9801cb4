import { expect, it } from 'vitest';
import { fc, forAllAsync } from '../../../test/support/property-runs.ts';
import { systemRandom } from '../random.ts';
import { ControlledClock } from '../time/clock.ts';
import { WorkQueue } from './work-queue.ts';

function setUp() {
  const clock = new ControlledClock();
  const queue = new WorkQueue({ clock, random: systemRandom, backoff: { base: 100, max: 1000, jitter: 0 } });
  return { clock, queue };
}

/** Work that waits until the test lets it go on. */
function gated() {
  const started: string[] = [];
  const gates = new Map<string, () => void>();
  const work = (key: string) => {
    started.push(key);
    return new Promise<void>((resolve) => gates.set(key, resolve));
  };
  const finish = (key: string) => gates.get(key)?.();
  return { started, work, finish };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

it('WorkQueue processes a key once, however often it was added', async () => {
  const { queue } = setUp();
  const done: string[] = [];
  for (const key of ['a', 'b', 'a', 'a']) queue.add(key);
  const running = queue.run(async (key) => void done.push(key));
  await queue.drain();
  await running;
  expect(done).toEqual(['a', 'b']);
});

it('WorkQueue processes a key again that was added while it was processed, and never concurrently', async () => {
  const { queue } = setUp();
  const { started, work, finish } = gated();
  const running = queue.run(work, { workers: 3 });
  queue.add('a');
  await turn();
  queue.add('a');
  queue.add('a');
  await turn();
  expect(started).toEqual(['a']);
  finish('a');
  await turn();
  expect(started).toEqual(['a', 'a']);
  finish('a');
  await queue.drain();
  await running;
  expect(started).toEqual(['a', 'a']);
});

it('WorkQueue processes several keys concurrently', async () => {
  const { queue } = setUp();
  const { started, work, finish } = gated();
  const running = queue.run(work, { workers: 2 });
  for (const key of ['a', 'b', 'c']) queue.add(key);
  await turn();
  expect(started).toEqual(['a', 'b']);
  finish('b');
  await turn();
  expect(started).toEqual(['a', 'b', 'c']);
  finish('a');
  finish('c');
  await queue.drain();
  await running;
});

it('WorkQueue adds a key after the earliest of several delays', async () => {
  const { clock, queue } = setUp();
  const done: number[] = [];
  const running = queue.run(async () => void done.push(clock.now()));
  const start = clock.now();
  queue.addAfter('a', 500);
  queue.addAfter('a', 200);
  queue.addAfter('a', 900);
  await clock.advance(10_000);
  expect(done).toEqual([start + 200]);
  expect(clock.waiting).toBe(0);
  queue.close();
  await running;
});

it('WorkQueue drops a delay when the key is added before', async () => {
  const { clock, queue } = setUp();
  let count = 0;
  const running = queue.run(async () => void count++);
  queue.addAfter('a', 500);
  queue.add('a');
  await clock.advance(1000);
  expect(count).toBe(1);
  queue.close();
  await running;
});

it('WorkQueue waits longer after every failure, until forget()', async () => {
  const { clock, queue } = setUp();
  const at: number[] = [];
  const running = queue.run(async (key) => {
    at.push(clock.now());
    if (at.length < 4) queue.retry(key);
    else queue.forget(key);
  });
  const start = clock.now();
  queue.add('a');
  await clock.advance(10_000);
  expect(at.map((time) => time - start)).toEqual([0, 100, 300, 700]);
  expect(queue.failures('a')).toBe(0);
  queue.close();
  await running;
});

it('WorkQueue drops queued keys when it is closed by a signal, and lets running work finish', async () => {
  const { clock, queue } = setUp();
  const { started, work, finish } = gated();
  const stop = new AbortController();
  const running = queue.run(work, { signal: stop.signal });
  queue.add('a');
  queue.add('b');
  queue.addAfter('c', 10);
  await turn();
  stop.abort();
  finish('a');
  await running;
  queue.add('d');
  expect(started).toEqual(['a']);
  expect(clock.waiting).toBe(0);
  expect(queue.size).toBe(0);
});

it('WorkQueue finishes keys that were added before drain(), including repeated ones', async () => {
  const { queue } = setUp();
  const { started, work, finish } = gated();
  const running = queue.run(work);
  queue.add('a');
  queue.add('b');
  await turn();
  queue.add('a');
  const drained = queue.drain();
  queue.add('c');
  finish('a');
  await turn();
  finish('b');
  await turn();
  finish('a');
  await drained;
  await running;
  expect(started).toEqual(['a', 'b', 'a']);
});

it('WorkQueue rejects with the error of work that rejects, after all workers have stopped', async () => {
  const { queue } = setUp();
  const { work, finish } = gated();
  const broken = new Error('broken');
  queue.add('slow');
  queue.add('bad');
  const running = queue.run((key) => (key === 'bad' ? Promise.reject(broken) : work(key)), { workers: 2 });
  const outcome = expect(running).rejects.toBe(broken);
  await turn();
  finish('slow');
  await outcome;
});

it('WorkQueue processes the newest state of every key, whatever the order of adds', async () => {
  await forAllAsync(
    { numRuns: 50 },
    fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c'), delay: fc.constantFrom(0, 0, 5, 20) }), {
      maxLength: 40,
    }),
    fc.integer({ min: 1, max: 4 }),
    async (adds, workers) => {
      const { clock, queue } = setUp();
      const wanted = new Map<string, number>();
      const seen = new Map<string, number>();
      const busy = new Set<string>();
      const running = queue.run(
        async (key) => {
          expect(busy.has(key)).toBe(false);
          busy.add(key);
          seen.set(key, wanted.get(key) ?? 0);
          await turn();
          busy.delete(key);
        },
        { workers },
      );
      for (const [index, { key, delay }] of adds.entries()) {
        wanted.set(key, index);
        queue.addAfter(key, delay);
        if (index % 3 === 0) await turn();
      }
      await clock.advance(100);
      await queue.drain();
      await running;
      expect(seen).toEqual(wanted);
    },
  );
});

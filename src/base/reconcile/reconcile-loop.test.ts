import { afterEach, beforeEach, expect, it } from 'vitest';
import { type LogFields, silent } from '../log.ts';
import { systemRandom } from '../random.ts';
import { ControlledClock } from '../time/clock.ts';
import type { WriteCache } from './reconcile-loop.ts';
import { ReconcileLoop, type ReconcileLoopOptions } from './reconcile-loop.ts';

let clock: ControlledClock;
let stop: AbortController;
let running: Promise<void>;
let lines: [string, string, LogFields | undefined][];

beforeEach(() => {
  clock = new ControlledClock();
  stop = new AbortController();
  lines = [];
});
afterEach(async () => {
  stop.abort();
  await running;
  expect(clock.waiting).toBe(0);
});

function start(options: Partial<ReconcileLoopOptions> & Pick<ReconcileLoopOptions, 'reconcile'>): ReconcileLoop {
  const log = {
    ...silent,
    debug: (message: string, fields?: LogFields) => void lines.push(['debug', message, fields]),
    warn: (message: string, fields?: LogFields) => void lines.push(['warn', message, fields]),
  };
  const backoff = { base: 100, max: 1000, jitter: 0 };
  const loop = new ReconcileLoop({ clock, random: systemRandom, log, backoff, failure: 'it failed', ...options });
  running = loop.run(stop.signal);
  return loop;
}

/** A cache that shows versions when the test says so. */
class TestCache implements WriteCache<readonly string[]> {
  lister: readonly string[] = [];
  #version = 0;
  #waiting: (() => boolean)[] = [];

  show(version: number, names: readonly string[] = []): void {
    this.#version = version;
    this.lister = names;
    this.#waiting = this.#waiting.filter((isOver) => !isOver());
  }

  shows = (version: number) => this.#version >= version;
  waitFor = (version: number) => this.#wait(() => this.shows(version));
  until = (condition: (view: readonly string[]) => boolean) => this.#wait(() => condition(this.lister));

  #wait(isDone: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(() => {
        if (isDone()) resolve();
        return isDone();
      });
    });
  }
}

it('the reconcile loop tries a failed key again, later every time, and passes the errors on', async () => {
  const tries: (readonly [number, string])[] = [];
  const begin = clock.now();
  const loop = start({
    reconcile: async (_, errors) => {
      tries.push([clock.now() - begin, errors.map(({ message }) => message).join()]);
      if (tries.length < 3) throw new AggregateError([new Error(`a${tries.length}`), new Error('b')]);
    },
  });
  loop.add('k');
  await clock.advance(10_000);
  loop.add('k');
  await loop.idle();
  expect(tries).toEqual([
    [0, ''],
    [100, 'a1,b'],
    [300, 'a2,b'],
    [10_000, ''],
  ]);
  expect(lines).toEqual([
    ['warn', 'it failed', { key: 'k', errors: ['Error: a1', 'Error: b'], failures: 1 }],
    ['warn', 'it failed', { key: 'k', errors: ['Error: a2', 'Error: b'], failures: 2 }],
  ]);
});

it('the reconcile loop logs failures for debugging when all their errors are expected, and reports them', async () => {
  const failed: string[] = [];
  const errors = [[new Error('late')], [new Error('late'), new Error('broken')], []];
  const loop = start({
    isExpected: ({ message }) => message === 'late',
    failed: (key, each) => void failed.push(`${key} ${each.length}`),
    reconcile: async () => {
      const next = errors.shift()!;
      if (next.length > 0) throw new AggregateError(next);
    },
  });
  loop.add('k');
  await clock.advance(10_000);
  expect(lines.map(([level]) => level)).toEqual(['debug', 'warn']);
  expect(failed).toEqual(['k 1', 'k 2']);
});

it('the reconcile loop reconciles a key again only when caches show what was written for it', async () => {
  const cache = new TestCache();
  let count = 0;
  const loop = start({
    reconcile: async (key) => {
      if (++count > 1) return;
      loop.wrote(key, { cache, version: 7 });
      loop.wrote(key, { cache, version: 5 });
      loop.wrote(key, { cache, isShown: (names) => !names.includes('deleted') });
      loop.add(key);
    },
  });
  cache.show(1, ['deleted']);
  loop.add('k');
  await clock.advance(1000);
  cache.show(6, ['deleted']);
  await clock.advance(1000);
  cache.show(7, ['deleted']);
  await clock.advance(1000);
  expect(count).toBe(1);
  cache.show(7, ['other']);
  await clock.advance(0);
  expect(count).toBe(2);
  expect(lines).toEqual([]);
});

it('the reconcile loop reconciles a key once for changes that come while it waits for caches or for its turn', async () => {
  const cache = new TestCache();
  let count = 0;
  const loop = start({
    turns: { pause: () => new Promise((resolve) => setImmediate(resolve)) },
    reconcile: async (key) => {
      if (++count === 1) loop.wrote(key, { cache, version: 1 });
    },
  });
  loop.add('k');
  await clock.advance(10);
  loop.add('k');
  await clock.advance(10);
  loop.add('k');
  cache.show(1);
  await Promise.resolve();
  loop.add('k');
  await clock.advance(10);
  expect(count).toBe(2);
});

it('the reconcile loop waits for caches for a limited time', async () => {
  let count = 0;
  const loop = start({
    visibilityMs: 5000,
    reconcile: async (key) => {
      if (++count === 1) loop.wrote(key, { cache: new TestCache(), version: 1 });
    },
  });
  loop.add('k');
  await clock.advance(0);
  loop.add('k');
  await clock.advance(4999);
  expect(count).toBe(1);
  await clock.advance(1);
  expect(count).toBe(2);
  expect(lines).toEqual([['warn', 'the cache does not show own writes in time', { key: 'k' }]]);
});

it.each([
  [true, [0, 100, 300]],
  [false, [0, 0, 50, 450]],
])(
  'a failed key waits for its delay although it has changed, if the reconcile loop is patient: %s',
  async (isPatient, times) => {
    const tries: number[] = [];
    const begin = clock.now();
    const loop = start({
      isPatient,
      reconcile: async (key) => {
        tries.push(clock.now() - begin);
        // A change while it is tried, and another one between two attempts.
        if (tries.length === 1) loop.add(key);
        if (clock.now() - begin < 200) throw new Error('broken');
      },
    });
    loop.add('k');
    await clock.advance(50);
    loop.add('k');
    await clock.advance(10_000);
    expect(tries).toEqual(times);
  },
);

it('the reconcile loop is silent when it ends while a key is being reconciled', async () => {
  const loop = start({
    reconcile: () => new Promise((_, reject) => stop.signal.addEventListener('abort', () => reject(new Error('stop')))),
  });
  loop.add('k');
  await clock.advance(0);
  stop.abort();
  await running;
  expect(lines).toEqual([]);
});

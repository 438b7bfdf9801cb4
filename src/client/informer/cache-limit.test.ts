import { expect, it } from 'vitest';
import type { KubeObject } from '../../kinds/kind.ts';
import { CacheLimit } from './cache-limit.ts';
import type { Change } from './object-cache.ts';
import type { Source } from './reflector.ts';

const MAX_BYTES = 10_000;

const object = (name: string, bytes: number) => ({ metadata: { name }, data: 'a'.repeat(bytes) }) as never;
const listOf = (...items: never[]) => ({ metadata: { resourceVersion: '1' }, items });

/** An informer that keeps the objects of `change`, and its limited source. */
function follow(limit: CacheLimit, { pages = [] as never[][], signal = new AbortController().signal } = {}) {
  let change: (change: Change<KubeObject>) => void = () => {};
  const source: Source<KubeObject> = {
    listAll: async ({ onPage }) => {
      for (const [index, items] of pages.entries()) onPage?.(items, index === 0);
      return listOf(...pages.flat());
    },
    watch: async () => ({
      async *batches() {
        yield [{ type: 'ADDED', object: object('watched', 1) }] as const;
        yield [{ type: 'ADDED', object: object('watched', 1) }] as const;
      },
    }),
  };
  const onChange = (handler: typeof change) => {
    change = handler;
    return () => {};
  };
  return { limited: limit.follow({ onChange }, source, signal), change: (next: Change<KubeObject>) => change(next) };
}

it('a watch ends when its changes exceed the limit, so that the informer lists again', async () => {
  const limit = new CacheLimit(MAX_BYTES);
  const { limited, change } = follow(limit);
  const { batches } = await limited.watch({});
  let count = 0;
  const watching = (async () => {
    for await (const _ of batches()) {
      count++;
      change({ type: 'add', object: object('a', 20_000) });
    }
  })();
  await expect(watching).rejects.toMatchObject({ reason: 'Expired' });
  expect(count).toBe(1);
  await expect(limited.watch({})).rejects.toMatchObject({ reason: 'Expired' });
  expect([limit.takeExceeded(), limit.takeExceeded()]).toEqual([true, true]);
  await expect(limited.watch({})).rejects.toThrow();
  await limited.listAll({});
  change({ type: 'delete', object: object('a', 0) });
  // The flag stays set until it is taken.
  expect([limit.takeExceeded(), limit.takeExceeded()]).toEqual([true, false]);
  await limited.watch({});
});

it('a list ends with the page that exceeds the limit', async () => {
  const limit = new CacheLimit(MAX_BYTES);
  const { limited } = follow(limit, { pages: [[object('a', 6_000)], [object('b', 6_000)], [object('c', 1)]] });
  await expect(limited.listAll({})).rejects.toMatchObject({ reason: 'RequestEntityTooLarge' });
  expect(limit.takeExceeded()).toBe(true);
});

it('a list replaces the objects of the informer', async () => {
  const limit = new CacheLimit(MAX_BYTES);
  const { limited, change } = follow(limit, { pages: [[object('a', 6_000)]] });
  change({ type: 'add', object: object('a', 6_000) });
  await limited.listAll({});
  change({ type: 'update', object: object('a', 6_000), old: object('a', 6_000) });
  await limited.watch({});
  expect(limit.takeExceeded()).toBe(false);
});

it('informers share the limit; a stopped one no longer counts', async () => {
  const limit = new CacheLimit(MAX_BYTES);
  const end = new AbortController();
  const first = follow(limit, { signal: end.signal });
  const second = follow(limit, { pages: [[object('a', 6_000)]] });
  first.change({ type: 'add', object: object('b', 6_000) });
  await expect(second.limited.listAll({})).rejects.toMatchObject({ reason: 'RequestEntityTooLarge' });
  end.abort();
  await second.limited.listAll({});
});

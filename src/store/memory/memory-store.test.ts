import { describe, expect, it } from 'vitest';
import { contents, describeStore, put, watching } from '../../../test/support/store/contract.ts';
import { ControlledClock, systemClock } from '../../base/time/clock.ts';
import { StoreCompacted } from '../store.ts';
import { MemoryStore } from './memory-store.ts';

describeStore('memory', async () => new MemoryStore({ clock: systemClock }));

describe('the memory store', () => {
  it('discards changes that are older than its history', async () => {
    const clock = new ControlledClock();
    const store = new MemoryStore({ clock, historyMilliseconds: 1000 });
    const first = await put(store, '/a', '1');
    await clock.advance(600);
    const second = await put(store, '/a', '2');
    await clock.advance(600);
    const third = await put(store, '/a', '3');
    await expect(store.list('/', { revision: first - 1 })).rejects.toBeInstanceOf(StoreCompacted);
    expect(await contents(store, '/', first)).toEqual({ '/a': '1' });
    await clock.advance(600);
    await put(store, '/b', '1');
    await expect(store.list('/', { revision: first })).rejects.toMatchObject({ oldest: second });
    const watch = watching(store, second);
    await watch.through(third);
  });

  it('discards the oldest changes when history is too large', async () => {
    const store = new MemoryStore({ clock: new ControlledClock(), historyBytes: 10_000 });
    const revisions: number[] = [];
    for (let i = 0; i < 100; i++) revisions.push(await put(store, '/a', 'x'.repeat(1000)));
    await expect(store.list('/', { revision: revisions[80] as number })).rejects.toBeInstanceOf(StoreCompacted);
    expect(await contents(store, '/', revisions[95])).toHaveProperty('/a');
  });

  it('counts only data that history holds: creating many objects discards nothing', async () => {
    const store = new MemoryStore({ clock: new ControlledClock(), historyBytes: 10_000 });
    const start = store.revision();
    for (let i = 0; i < 100; i++) await put(store, `/k${i}`, 'x'.repeat(1000));
    const watch = watching(store, start);
    await watch.through(store.revision());
    expect(watch.changes).toHaveLength(100);
  });

  it('allows a watcher to commit', async () => {
    const store = new MemoryStore({ clock: new ControlledClock() });
    const commits: Promise<number>[] = [];
    store.watch(1, {
      changes(batch) {
        if (commits.length < 5) commits.push(put(store, '/b', String(batch[0]?.revision)));
      },
      closed() {},
    });
    const other = watching(store, 1);
    await put(store, '/a', '1');
    await other.through(7);
    expect(other.changes.map((change) => change.revision)).toEqual([2, 3, 4, 5, 6, 7]);
    await Promise.all(commits);
  });

  it('closes a watcher that throws, and continues with the others', async () => {
    const store = new MemoryStore({ clock: new ControlledClock() });
    let reason: Error | undefined;
    store.watch(1, {
      changes() {
        throw new Error('broken');
      },
      closed(error) {
        reason = error;
      },
    });
    const other = watching(store, 1);
    await other.through(await put(store, '/a', '1'));
    await other.through(await put(store, '/a', '2'));
    expect(reason?.message).toBe('broken');
  });
});

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { contents, describeStore, put, watching } from '../../../test/support/store/contract.ts';
import { scratchDirectories } from '../../../test/support/store-directories.ts';
import { ControlledClock, systemClock } from '../../base/time/clock.ts';
import { StoreCompacted } from '../store.ts';
import { openEmbeddedStore } from './open.ts';

const directory = await scratchDirectories();

describeStore('embedded', () => openEmbeddedStore({ directory: directory(), clock: systemClock }));

describe('the embedded store', () => {
  it('continues when it is opened again', async () => {
    const options = { directory: directory(), clock: systemClock };
    let store = await openEmbeddedStore(options);
    const start = store.revision();
    const first = await put(store, '/a', '1');
    await put(store, '/b', '1');
    await store.commit([{ key: '/b', value: null }]);
    const last = await put(store, '/a', '2');
    await store.close();

    store = await openEmbeddedStore(options);
    expect(store.revision()).toBe(last);
    expect(await contents(store)).toEqual({ '/a': '2' });
    expect(await contents(store, '/', first)).toEqual({ '/a': '1' });
    const watch = watching(store, start);
    const next = await put(store, '/c', '1');
    expect(next).toBeGreaterThan(last);
    await watch.through(next);
    expect(watch.changes).toHaveLength(5);
    await store.close();
  });

  it('shows nothing before it is on disk', async () => {
    const store = await openEmbeddedStore({ directory: directory(), clock: systemClock });
    const watch = watching(store, store.revision());
    const commit = put(store, '/a', '1');
    const before = store.revision();
    expect(await store.get('/a')).toBeUndefined();
    expect((await store.list('/')).rows).toEqual([]);
    expect(watch.changes).toEqual([]);
    const revision = await commit;
    expect(before).toBeLessThan(revision);
    expect(watch.changes).toHaveLength(1);
    await store.close();
  });

  it('delivers the same buffer that was written', async () => {
    const store = await openEmbeddedStore({ directory: directory(), clock: systemClock });
    const watch = watching(store, store.revision());
    const value = Buffer.from('it');
    await watch.through(await store.commit([{ key: '/a', value }]));
    expect(watch.changes[0]?.value).toBe(value);
    await store.close();
  });

  it('discards changes that are older than its history, durably', async () => {
    const clock = new ControlledClock();
    const options = { directory: directory(), clock, historyMilliseconds: 1000 };
    let store = await openEmbeddedStore(options);
    const first = await put(store, '/a', '1');
    await clock.advance(600);
    const second = await put(store, '/a', '2');
    expect(await contents(store, '/', first)).toEqual({ '/a': '1' });
    await clock.advance(600);
    await put(store, '/b', '1');
    expect(await contents(store, '/', first)).toEqual({ '/a': '1' });
    await expect(store.list('/', { revision: first - 1 })).rejects.toBeInstanceOf(StoreCompacted);
    await clock.advance(600);
    await put(store, '/c', '1');
    await expect(store.list('/', { revision: first })).rejects.toMatchObject({ oldest: second });
    await store.close();
    store = await openEmbeddedStore(options);
    await expect(store.list('/', { revision: first })).rejects.toMatchObject({ oldest: second });
    expect(await contents(store)).toEqual({ '/a': '2', '/b': '1', '/c': '1' });
    await store.close();
  });

  it('discards the oldest changes when history is too large', async () => {
    const store = await openEmbeddedStore({ directory: directory(), clock: systemClock, historyBytes: 20_000 });
    const revisions: number[] = [];
    for (let i = 0; i < 100; i++) revisions.push(await put(store, '/a', 'x'.repeat(1000)));
    await expect(store.list('/', { revision: revisions[70] as number })).rejects.toBeInstanceOf(StoreCompacted);
    expect(await contents(store, '/', revisions[90])).toHaveProperty('/a');
    const start = store.revision();
    for (let i = 0; i < 100; i++) await put(store, `/k${i}`, 'x'.repeat(1000));
    const watch = watching(store, start);
    await watch.through(store.revision());
    expect(watch.changes).toHaveLength(100);
    await store.close();
  });

  it('keeps its file bounded while the same objects are overwritten repeatedly', async () => {
    const path = directory();
    const store = await openEmbeddedStore({ directory: path, clock: systemClock, historyBytes: 2 ** 20 });
    const value = Buffer.alloc(3000, 'x');
    const round = async (offset: number) => {
      const writes = Array.from({ length: 200 }, (_, i) => ({ key: `/k${i + offset}`, value }));
      await Promise.all(writes.map((write) => store.commit([write])));
      await Promise.all(writes.slice(0, 100).map(({ key }) => store.commit([{ key, value: null }])));
    };
    for (let i = 0; i < 20; i++) await round(i % 3);
    const { size } = await stat(join(path, 'data.mdb'));
    for (let i = 0; i < 100; i++) await round(i % 3);
    // The test wrote seventy megabytes in between.
    expect((await stat(join(path, 'data.mdb'))).size).toBeLessThanOrEqual(size + 2 * 2 ** 20);
    expect(size).toBeLessThan(16 * 2 ** 20);
    await store.close();
  });

  it('has no timer, even with history to discard', async () => {
    const clock = new ControlledClock();
    const store = await openEmbeddedStore({ directory: directory(), clock });
    for (let i = 0; i < 5; i++) await put(store, '/a', `${i}`);
    expect(clock.waiting).toBe(0);
    await store.close();
  });

  it('rejects a key that is too long for LMDB', async () => {
    const store = await openEmbeddedStore({ directory: directory(), clock: systemClock });
    await expect(put(store, `/${'é'.repeat(1000)}`, '1')).rejects.toThrow(
      'has 2001 bytes, more than the maximum of 1978',
    );
    await put(store, `/${'é'.repeat(900)}`, '1');
    await store.close();
  });

  it('lists more rows than it reads in one turn of the event loop, from one state', async () => {
    const store = await openEmbeddedStore({ directory: directory(), clock: systemClock });
    const keys = Array.from({ length: 2500 }, (_, i) => `/k${i}`);
    await Promise.all(keys.map((key) => put(store, key, 'old')));
    const list = store.list('/');
    const writes = Promise.all(keys.map((key) => put(store, key, 'new')));
    const { rows } = await list;
    expect(rows).toHaveLength(2500);
    expect(rows.every((row) => String(row.value) === 'old')).toBe(true);
    await writes;
    const last = store.list('/').catch((error) => error);
    await store.close();
    expect(await last).toMatchObject({ name: 'StoreUnavailable' });
  });
});

import { mkdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { etcdMissing, TestEtcd } from '../../../test/support/etcd.ts';
import { describeStore, watching } from '../../../test/support/store/contract.ts';
import { scratchDirectories } from '../../../test/support/store-directories.ts';
import { systemClock } from '../../base/time/clock.ts';
import type { StoreContext } from '../driver.ts';
import { storeDriver } from '../drivers.ts';
import { EtcdStore } from '../etcd/etcd-store.ts';
import { type Change, type Store, type StoreCompacted, StoreConflict } from '../store.ts';
import { checkCopy } from './compare.ts';
import { copyStore } from './copy-store.ts';
import { readHistory } from './history.ts';

const missing = etcdMissing();
if (missing) console.warn(missing);

const scratch = await scratchDirectories();
const embedded = storeDriver('embedded');
const etcdDriver = storeDriver('etcd');

const newContext = async (): Promise<StoreContext> => {
  const directory = scratch();
  await mkdir(directory);
  return { directory, clock: systemClock };
};

const put = (store: Store, key: string, value: string, expect?: number) =>
  store.commit([{ key, value: Buffer.from(value), ...(expect === undefined ? {} : { expect }) }]);

/** Objects, of which some are deleted, replaced, and written together; the oldest changes are discarded. */
async function fill(store: Store): Promise<void> {
  for (let i = 0; i < 20; i++) await put(store, `/registry/a/${i % 7}`, `first ${i}`);
  await store.commit(['x', 'y', 'z'].map((name) => ({ key: `/registry/b/${name}`, value: Buffer.from(name) })));
  await put(store, '/registry/b/deleted', 'gone');
  await store.commit([{ key: '/registry/b/deleted', value: null }]);
  await store.compact(await store.revision());
  for (let i = 0; i < 20; i++) await put(store, `/registry/a/${i % 9}`, `second ${i}`);
  await store.commit([
    { key: '/registry/b/x', value: null },
    { key: '/registry/b/y', value: Buffer.from('changed') },
  ]);
  await put(store, '/registry/b/x', 'again', 0);
}

interface Target {
  readonly to: 'embedded' | 'etcd';
  readonly settings: object;
  readonly context: StoreContext;
  /** Called while the original is copied, and when writes are paused. */
  readonly pause?: () => Promise<void>;
}

/** Copies a store, and opens the copy as the next start does. */
async function copy(original: Store, { to, settings, context, pause }: Target): Promise<Store> {
  const { store } = await copyStore({
    original,
    begin: (base) => storeDriver(to).beginCopy!(settings, context, base),
    pause: pause ?? (async () => undefined),
    clock: systemClock,
    signal: new AbortController().signal,
  });
  expect((await store.list('')).rows).toEqual((await original.list('')).rows);
  await store.close();
  const opened = await storeDriver(to).open(settings, context);
  await checkCopy(original, opened, await original.revision());
  return opened;
}

async function oldest(store: Store): Promise<number> {
  return store.list('', { revision: 1 }).then(
    () => 1,
    (error: StoreCompacted) => error.oldest,
  );
}

/** What a client can see: the newest state, the state at each revision, and the changes since each. */
async function everything(store: Store, revision: number): Promise<unknown> {
  const start = await oldest(store);
  const states: unknown[] = [];
  for (let at = start; at <= revision; at++) states.push((await store.list('/registry/', { revision: at })).rows);
  const changes: (readonly Change[])[] = [];
  for (let after = start; after < revision; after++) {
    const watch = watching(store, after);
    await watch.through(revision);
    const found = watch.changes.filter((change) => change.revision <= revision);
    // No client sees the time of a change, which etcd has only for commits with an origin.
    changes.push(found.map(({ time: _, ...seen }) => seen));
  }
  return JSON.parse(JSON.stringify({ start, states, changes }));
}

describe.skipIf(missing)('a migration', () => {
  const etcds: TestEtcd[] = [];
  const open: Store[] = [];
  const keep = <S extends Store>(store: S): S => {
    open.push(store);
    return store;
  };

  async function emptyEtcd() {
    const etcd = await TestEtcd.start();
    etcds.push(etcd);
    return { etcdServers: [etcd.endpoint] };
  }

  afterAll(async () => {
    for (const store of open) await store.close();
    for (const etcd of etcds) await etcd.remove();
  });

  it('keeps every revision, state and change, to etcd and back', async () => {
    const context = await newContext();
    const original = keep(await embedded.open({}, context));
    await fill(original);
    const revision = await original.revision();
    const seen = await everything(original, revision);
    const settings = await emptyEtcd();
    const onEtcd = keep(await copy(original, { to: 'etcd', settings, context }));
    expect(await everything(onEtcd, revision)).toEqual(seen);
    const back = keep(await copy(onEtcd, { to: 'embedded', settings: {}, context: await newContext() }));
    expect(await everything(back, revision)).toEqual(seen);
    expect(await back.revision()).toBe(await onEtcd.revision());
  });

  it('continues with later revisions, and compares those of copied rows', async () => {
    const context = await newContext();
    const original = keep(await embedded.open({}, context));
    await fill(original);
    const before = await original.revision();
    const settings = await emptyEtcd();
    const store = keep(await copy(original, { to: 'etcd', settings, context }));
    const row = (await store.get('/registry/a/3'))!;
    expect(row).toEqual(await original.get('/registry/a/3'));
    const stale = put(store, row.key, 'new', row.revision - 1);
    await expect(stale).rejects.toMatchObject({ name: 'StoreConflict', key: row.key, revision: row.revision });
    await expect(put(store, row.key, 'new', 0)).rejects.toBeInstanceOf(StoreConflict);
    const watch = watching(store, row.revision);
    const next = await put(store, row.key, 'new', row.revision);
    expect(next).toBeGreaterThan(before);
    await watch.through(next);
    expect(watch.changes.at(-1)).toMatchObject({ revision: next, previous: { revision: row.revision } });
    expect(await put(store, row.key, 'newer', next)).toBe(next + 1);
    await store.compact(next);
    await expect(store.list('', { revision: before })).rejects.toMatchObject({ name: 'StoreCompacted', oldest: next });
    await expect(store.list('', { revision: next + 100 })).rejects.toMatchObject({ revision: next + 1 });
    const again = keep(await etcdDriver.open(settings, context));
    expect(await again.get(row.key)).toMatchObject({ revision: next + 1 });
  });

  it('copies writes that are made meanwhile', async () => {
    const context = await newContext();
    const original = keep(await embedded.open({}, context));
    await fill(original);
    const settings = await emptyEtcd();
    let copying = true;
    let last = 0;
    // One after the other, so that the copy can follow.
    const writer = (async () => {
      for (let i = 0; copying; i++) last = await put(original, `/registry/late/${i % 10}`, `${i}`);
    })();
    const pause = async () => {
      copying = false;
      await writer;
      await put(original, '/registry/late', 'two');
    };
    const store = keep(await copy(original, { to: 'etcd', settings, context, pause }));
    expect(last).toBeGreaterThan(0);
    expect((await store.get('/registry/late'))?.value.toString()).toBe('two');
  });

  it('neither fills nor opens an etcd that is not for it', async () => {
    const context = await newContext();
    const original = keep(await embedded.open({}, context));
    await fill(original);
    const settings = await emptyEtcd();
    const { oldest, rows } = await readHistory(original, Promise.resolve(await original.revision()));
    const interrupted = await etcdDriver.beginCopy!(settings, context, { oldest, rows });
    await interrupted.add({ revision: oldest + 1, changes: [] });
    await interrupted.abandon();
    await expect(etcdDriver.open(settings, context)).rejects.toThrow('incomplete copy');
    keep(await copy(original, { to: 'etcd', settings, context }));
    await expect(etcdDriver.beginCopy!(settings, context, { oldest, rows })).rejects.toMatchObject({
      name: 'StoreNotEmpty',
    });
  });

  it('says which commit etcd does not accept, and leaves nothing that could be opened', async () => {
    const context = await newContext();
    const original = keep(await embedded.open({}, context));
    await fill(original);
    const names = Array.from({ length: 129 }, (_, i) => `/registry/large/${i}`);
    const revision = await original.commit(names.map((key) => ({ key, value: Buffer.from('x') })));
    const settings = await emptyEtcd();
    await expect(copy(original, { to: 'etcd', settings, context })).rejects.toThrow(
      `etcd does not accept 129 objects, among them ${names[0]}, of revision ${revision}`,
    );
    await expect(etcdDriver.open(settings, context)).rejects.toThrow('incomplete copy');
  });

  it('works where etcd has other revisions already', async () => {
    const context = await newContext();
    const settings = await emptyEtcd();
    const other = keep(await EtcdStore.open({ endpoints: settings.etcdServers, clock: systemClock }));
    for (let i = 0; i < 200; i++) await put(other, '/other', `${i}`);
    await other.commit([{ key: '/other', value: null }]);
    const original = keep(await embedded.open({}, context));
    await fill(original);
    const revision = await original.revision();
    const store = keep(await copy(original, { to: 'etcd', settings, context }));
    expect(await everything(store, revision)).toEqual(await everything(original, revision));
    expect(await put(store, '/registry/new', 'new')).toBeLessThan(revision + 100);
  });
});

describe.skipIf(missing)('on an etcd with copied revisions', () => {
  let etcd: TestEtcd;
  beforeAll(async () => {
    etcd = await TestEtcd.start();
  });
  afterAll(() => etcd.remove());

  describeStore('etcd after a migration', async () => {
    const context = await newContext();
    const original = await embedded.open({}, context);
    await fill(original);
    for (const { key } of (await original.list('')).rows) await original.commit([{ key, value: null }]);
    const settings = { etcdServers: [etcd.endpoint] };
    const raw = await EtcdStore.open({ endpoints: settings.etcdServers, clock: systemClock });
    for (const { key } of (await raw.list('')).rows) await raw.commit([{ key, value: null }]);
    await raw.commit([{ key: 'quarterdeck/revisions', value: null }]);
    await raw.close();
    const store = await copy(original, { to: 'etcd', settings, context });
    await original.close();
    return store;
  });
});

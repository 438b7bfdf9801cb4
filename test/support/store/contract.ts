import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Change,
  type Row,
  type Store,
  StoreAhead,
  StoreCompacted,
  StoreConflict,
  StoreUnavailable,
  type Subscription,
} from '../../../src/store/store.ts';

/** Contract of a store. Called from the test of every implementation. */
export function describeStore(name: string, open: () => Promise<Store>): void {
  describe(`${name}: the store contract`, () => {
    let store: Store;

    beforeEach(async () => {
      store = await open();
    });

    afterEach(async () => {
      await store.close();
    });

    describe('commit and get', () => {
      it('stores a value under a revision that grows with every commit', async () => {
        const before = await store.revision();
        expect(before).toBeGreaterThanOrEqual(1);
        const first = await put(store, '/a', 'one');
        const second = await put(store, '/b', 'two');
        expect(first).toBeGreaterThan(before);
        expect(second).toBeGreaterThan(first);
        expect(await store.revision()).toBe(second);
        expect(plain(await store.get('/a'))).toEqual({ key: '/a', value: 'one', revision: first });
        expect(await store.get('/none')).toBeUndefined();
      });

      it('keeps every byte of a value, and empty and large ones', async () => {
        const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
        const large = Buffer.alloc(700_000, 'x');
        await store.commit([{ key: '/bytes', value: bytes }]);
        await store.commit([{ key: '/empty', value: Buffer.alloc(0) }]);
        await store.commit([{ key: '/large', value: large }]);
        expect(Buffer.compare((await store.get('/bytes'))?.value as Buffer, bytes)).toBe(0);
        expect((await store.get('/empty'))?.value).toHaveLength(0);
        expect(Buffer.compare((await store.get('/large'))?.value as Buffer, large)).toBe(0);
        expect((await store.list('/')).rows.map((row) => row.value.length)).toEqual([256, 0, 700_000]);
      });

      it('gives the writes of a commit one revision, all or none', async () => {
        const revision = await store.commit([
          { key: '/x', value: Buffer.from('1') },
          { key: '/y', value: Buffer.from('2'), expect: 0 },
        ]);
        expect((await store.list('/')).rows.map((row) => row.revision)).toEqual([revision, revision]);
        const rejected = store.commit([
          { key: '/x', value: Buffer.from('new') },
          { key: '/z', value: Buffer.from('new') },
          { key: '/y', value: null, expect: revision - 1 },
        ]);
        await expect(rejected).rejects.toMatchObject({ name: 'StoreConflict', key: '/y', revision });
        expect(await contents(store)).toEqual({ '/x': '1', '/y': '2' });
        expect(await store.revision()).toBe(revision);
      });

      it('deletes, and drops the revision of the deleted key', async () => {
        const created = await put(store, '/a', 'one');
        const deleted = await store.commit([{ key: '/a', value: null, expect: created }]);
        expect(deleted).toBeGreaterThan(created);
        expect(await store.get('/a')).toBeUndefined();
        const again = await store.commit([{ key: '/a', value: Buffer.from('two'), expect: 0 }]);
        expect(plain(await store.get('/a'))).toEqual({ key: '/a', value: 'two', revision: again });
      });

      it('changes nothing when it deletes a missing key, or has no writes', async () => {
        const before = await put(store, '/a', 'one');
        expect(await store.commit([{ key: '/none', value: null }])).toBe(before);
        expect(await store.commit([{ key: '/none', value: null, expect: 0 }])).toBe(before);
        expect(await store.commit([])).toBe(before);
        expect(await store.revision()).toBe(before);
      });

      it('rejects a key that is empty, or twice in a commit', async () => {
        const value = Buffer.from('1');
        await expect(store.commit([{ key: '', value }])).rejects.toThrow(RangeError);
        const twice = store.commit([
          { key: '/a', value },
          { key: '/a', value: null },
        ]);
        await expect(twice).rejects.toThrow('twice');
        expect(await contents(store)).toEqual({});
      });

      it('accepts the longest keys of the API', async () => {
        const label = 'n'.repeat(253);
        const key = `/registry/${label}.${label}/${'n'.repeat(63)}/${label}`;
        const revision = await put(store, key, 'long');
        expect((await store.get(key))?.revision).toBe(revision);
        expect((await store.list(key.slice(0, -1))).rows.map((row) => row.key)).toEqual([key]);
      });
    });

    describe('compare-and-set', () => {
      it('names the key and its actual revision when it fails', async () => {
        const revision = await put(store, '/a', 'one');
        const conflict = (write: Parameters<Store['commit']>[0][number]) => store.commit([write]).catch((e) => e);
        const exists = await conflict({ key: '/a', value: Buffer.from('x'), expect: 0 });
        expect(exists).toBeInstanceOf(StoreConflict);
        expect(exists).toMatchObject({ key: '/a', revision });
        expect(await conflict({ key: '/a', value: null, expect: revision + 1 })).toMatchObject({ key: '/a', revision });
        expect(await conflict({ key: '/b', value: null, expect: revision })).toMatchObject({ key: '/b', revision: 0 });
      });

      it('fails when a condition on another key is not met', async () => {
        const first = await put(store, '/guard', 'one');
        const key = '/guarded';
        await store.commit([{ key, value: Buffer.from('a') }], [{ key: '/guard', revision: first }]);
        await store.commit([{ key, value: Buffer.from('b') }], [{ key: '/absent', revision: 0 }]);
        const second = await put(store, '/guard', 'two');
        const value = Buffer.from('c');
        const stale = store.commit([{ key, value }], [{ key: '/guard', revision: first }]);
        await expect(stale).rejects.toMatchObject({ name: 'StoreConflict', key: '/guard', revision: second });
        const gone = store.commit([{ key, value }], [{ key: '/absent', revision: second }]);
        await expect(gone).rejects.toMatchObject({ name: 'StoreConflict', key: '/absent', revision: 0 });
        expect(plain(await store.get(key))).toMatchObject({ value: 'b' });
        expect(plain(await store.get('/guard'))).toEqual({ key: '/guard', value: 'two', revision: second });
      });

      it('sees pending writes of other keys', async () => {
        const revision = await put(store, '/guard', 'one');
        const changing = put(store, '/guard', 'two');
        const late = store.commit([{ key: '/late', value: Buffer.from('x') }], [{ key: '/guard', revision }]);
        const outcome = await late.catch((error: unknown) => error);
        // A store over a network may take them in the other order; never both as they are.
        if (typeof outcome === 'number') expect(outcome).toBeLessThan(await changing);
        else expect(outcome).toBeInstanceOf(StoreConflict);
        await changing;
      });

      it('lets exactly one of many creators win', async () => {
        const results = await Promise.allSettled(
          Array.from({ length: 20 }, (_, i) => store.commit([{ key: '/a', value: Buffer.from(`${i}`), expect: 0 }])),
        );
        const won = results.filter((result) => result.status === 'fulfilled');
        expect(won).toHaveLength(1);
        expect((await store.get('/a'))?.revision).toBe(won[0]?.value);
        for (const result of results) {
          if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(StoreConflict);
        }
      });

      it('loses no update when many writers increment one key', async () => {
        await put(store, '/counter', '0');
        const increment = async () => {
          for (;;) {
            const row = (await store.get('/counter')) as Row;
            const value = Buffer.from(String(Number(row.value) + 1));
            try {
              return await store.commit([{ key: '/counter', value, expect: row.revision }]);
            } catch (error) {
              if (!(error instanceof StoreConflict)) throw error;
            }
          }
        };
        const revisions = await Promise.all(Array.from({ length: 25 }, increment));
        expect(String((await store.get('/counter'))?.value)).toBe('25');
        expect(new Set(revisions).size).toBe(25);
      });
    });

    describe('list', () => {
      it('returns the keys with a prefix in byte order', async () => {
        const keys = ['/p/\u{1f600}', '/p/\uff5e', '/p/b', '/p/a/z', '/p/a', '/p/a-', '/p/é', '/p/'];
        for (const key of [...keys, '/o', '/p', '/q', '/pa']) await put(store, key, key);
        const list = await store.list('/p/');
        const ordered = [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
        expect(list.rows.map((row) => row.key)).toEqual(ordered);
        expect(list.rows.map((row) => String(row.value))).toEqual(ordered);
        expect(list.more).toBe(false);
        expect(list.revision).toBe(await store.revision());
        expect((await store.list('')).rows).toHaveLength(12);
        expect((await store.list('/none')).rows).toEqual([]);
      });

      it('returns pages of one state during writes', async () => {
        for (const name of 'abcdefg') await put(store, `/p/${name}`, name);
        const first = await store.list('/p/', { limit: 3 });
        expect(first).toMatchObject({ more: true });
        expect(names(first.rows)).toBe('abc');
        await store.commit([{ key: '/p/d', value: null }]);
        await put(store, '/p/ca', 'new');
        await put(store, '/p/e', 'changed');
        const second = await store.list('/p/', { revision: first.revision, after: '/p/c', limit: 3 });
        expect(second).toMatchObject({ more: true, revision: first.revision });
        expect(names(second.rows)).toBe('def');
        const third = await store.list('/p/', { revision: first.revision, after: '/p/f', limit: 3 });
        expect(third).toMatchObject({ more: false });
        expect(names(third.rows)).toBe('g');
        expect(await contents(store, '/p/')).toMatchObject({ '/p/ca': 'new', '/p/e': 'changed' });
      });

      it('starts after a key that does not exist, or is outside of the prefix', async () => {
        for (const key of ['/a/1', '/b/1', '/b/3']) await put(store, key, key);
        expect((await store.list('/b/', { after: '/b/2' })).rows.map((row) => row.key)).toEqual(['/b/3']);
        expect((await store.list('/b/', { after: '/a/9' })).rows).toHaveLength(2);
        expect((await store.list('/b/', { after: '/c' })).rows).toEqual([]);
        expect(await store.list('/b/', { limit: 2 })).toMatchObject({ more: false });
      });

      it('shows every revision as it was', async () => {
        const states: { revision: number; contents: Record<string, string> }[] = [];
        const state: Record<string, string> = {};
        const step = async (key: string, value: string | null) => {
          const revision = await store.commit([{ key, value: value === null ? null : Buffer.from(value) }]);
          if (value === null) delete state[key];
          else state[key] = value;
          states.push({ revision, contents: { ...state } });
        };
        await step('/a', '1');
        await step('/b', '1');
        await step('/a', '2');
        await step('/a', null);
        await step('/c', '1');
        await step('/a', '3');
        await step('/b', null);
        await step('/a', '4');
        for (const { revision, contents: expected } of states) {
          expect(await contents(store, '/', revision)).toEqual(expected);
        }
      });

      it('keeps the revision of each row as it was', async () => {
        const first = await put(store, '/a', '1');
        await put(store, '/a', '2');
        expect((await store.list('/', { revision: first })).rows.map(plain)).toEqual([
          { key: '/a', value: '1', revision: first },
        ]);
      });

      it('rejects a future revision', async () => {
        const revision = await put(store, '/a', '1');
        const error = await store.list('/', { revision: revision + 5 }).catch((e) => e);
        expect(error).toBeInstanceOf(StoreAhead);
        expect(error.revision).toBe(revision);
      });
    });

    describe('watch', () => {
      it('delivers changes from now on, with the previous rows', async () => {
        const old = await put(store, '/a', '1');
        const watch = watching(store, old);
        const updated = await put(store, '/a', '2');
        const created = await put(store, '/b', '1');
        const deleted = await store.commit([{ key: '/a', value: null }]);
        const again = await put(store, '/a', '3');
        await watch.through(again);
        expect(watch.changes.map(plainChange)).toEqual([
          { key: '/a', revision: updated, value: '2', previous: { key: '/a', value: '1', revision: old } },
          { key: '/b', revision: created, value: '1', previous: undefined },
          { key: '/a', revision: deleted, value: null, previous: { key: '/a', value: '2', revision: updated } },
          { key: '/a', revision: again, value: '3', previous: undefined },
        ]);
        watch.stop();
      });

      it('delivers the same from history', async () => {
        const start = await store.revision();
        const old = await put(store, '/a', '1');
        const live = watching(store, start);
        await put(store, '/a', '2');
        await store.commit([
          { key: '/a', value: null },
          { key: '/b', value: Buffer.from('b') },
        ]);
        await put(store, '/a', '3');
        const last = await store.commit([{ key: '/b', value: null }]);
        await live.through(last);
        const replay = watching(store, start);
        await replay.through(last);
        expect(replay.changes.map(plainChange)).toEqual(live.changes.map(plainChange));
        const later = watching(store, old);
        await later.through(last);
        expect(later.changes.map(plainChange)).toEqual(live.changes.slice(1).map(plainChange));
      });

      it('continues from history to live changes without gaps or duplicates', async () => {
        const start = await store.revision();
        const writes = Array.from({ length: 1500 }, (_, i) => put(store, `/k${i % 40}`, `${i}`));
        await writes[700];
        const early = watching(store, start);
        await writes[1000];
        const late = watching(store, start);
        const revisions = await Promise.all(writes);
        const last = Math.max(...revisions);
        await Promise.all([early.through(last), late.through(last)]);
        const expected = [...revisions].sort((a, b) => a - b);
        expect(early.changes.map((change) => change.revision)).toEqual(expected);
        expect(late.changes.map((change) => change.revision)).toEqual(expected);
      });

      it('puts the changes of a revision into one batch', async () => {
        const start = await store.revision();
        const live = watching(store, start);
        let last = 0;
        for (let i = 0; i < 60; i++) {
          last = await store.commit(
            Array.from({ length: 25 }, (_, j) => ({ key: `/k${j}`, value: Buffer.from(`${i}`) })),
          );
        }
        const replay = watching(store, start);
        await Promise.all([live.through(last), replay.through(last)]);
        for (const { batches, changes } of [live, replay]) {
          expect(changes).toHaveLength(1500);
          const ends = batches.map((batch) => batch.at(-1)?.revision);
          const starts = batches.map((batch) => batch[0]?.revision);
          for (let i = 1; i < batches.length; i++) expect(starts[i]).toBeGreaterThan(ends[i - 1] as number);
        }
      });

      it('delivers who asked for a commit, live and from history, and nobody when nobody was named', async () => {
        const start = await store.revision();
        const live = watching(store, start);
        const origin = {
          user: 'alice',
          client: 'kubectl/v1.36',
          manager: 'kubectl-edit',
          request: 'r-1',
          isStatus: false,
        };
        const writes = ['/a', '/b'].map((key) => ({ key, value: Buffer.from('1') }));
        await store.commit(writes, [], origin);
        const created = await put(store, '/c', '1');
        await store.commit([{ key: '/c', value: null, expect: created }], [], { user: 'bob', isStatus: true });
        await store.commit([{ key: '/none', value: null }], [], { user: 'nobody' });
        const last = await put(store, '/d', '1');
        await live.through(last);
        const replay = watching(store, start);
        await replay.through(last);
        for (const { changes } of [live, replay]) {
          const told = changes.map(({ key, origin: from }) => [key, from?.user, from?.isStatus === true]);
          expect(told).toEqual([
            ['/a', 'alice', false],
            ['/b', 'alice', false],
            ['/c', undefined, false],
            ['/c', 'bob', true],
            ['/d', undefined, false],
          ]);
          expect(changes[0]?.origin).toEqual(origin);
        }
        expect(last).toBe(created + 2);
        expect(Object.keys(await contents(store))).toEqual(['/a', '/b', '/d']);
      });

      it('forgets origins with the history that they belong to', async () => {
        const first = await store.commit([{ key: '/a', value: Buffer.from('1') }], [], { user: 'alice' });
        const second = await store.commit([{ key: '/a', value: Buffer.from('2') }], [], { user: 'bob' });
        await store.compact(first);
        const replay = watching(store, first);
        await replay.through(second);
        expect(replay.changes.map(({ origin }) => origin?.user)).toEqual(['bob']);
        await store.compact(second);
        await put(store, '/a', '3');
        expect(await contents(store)).toEqual({ '/a': '3' });
      });

      it('delivers nothing after stop()', async () => {
        const watch = watching(store, await store.revision());
        const first = await put(store, '/a', '1');
        await watch.through(first);
        watch.stop();
        const other = watching(store, first);
        await other.through(await put(store, '/a', '2'));
        expect(watch.changes).toHaveLength(1);
        expect(watch.isClosed).toBe(false);
      });

      it('gives every watcher every change', async () => {
        const start = await store.revision();
        const watches = Array.from({ length: 10 }, () => watching(store, start));
        let last = 0;
        for (let i = 0; i < 10; i++) last = await put(store, '/a', `${i}`);
        for (const watch of watches) {
          await watch.through(last);
          expect(watch.changes.map((change) => String(change.value)).join('')).toBe('0123456789');
        }
      });

      it('ends a watch from a future revision', async () => {
        const revision = await put(store, '/a', '1');
        const error = await watching(store, revision + 7).closed;
        expect(error).toBeInstanceOf(StoreAhead);
      });
    });

    describe('compact', () => {
      it('discards history, and keeps the state', async () => {
        const start = await store.revision();
        const first = await put(store, '/a', '1');
        await put(store, '/b', '1');
        const gone = await store.commit([{ key: '/b', value: null }]);
        const second = await put(store, '/a', '2');
        const third = await put(store, '/a', '3');
        await store.compact(second);
        for (const revision of [first, gone]) {
          const error = await store.list('/', { revision }).catch((e) => e);
          expect(error).toBeInstanceOf(StoreCompacted);
          expect(error.oldest).toBe(second);
        }
        expect(await watching(store, start).closed).toBeInstanceOf(StoreCompacted);
        expect(await watching(store, first).closed).toMatchObject({ name: 'StoreCompacted', oldest: second });
        expect(await contents(store, '/', second)).toEqual({ '/a': '2' });
        expect(await contents(store)).toEqual({ '/a': '3' });
        const watch = watching(store, second);
        await watch.through(third);
        expect(watch.changes.map(plainChange)).toEqual([
          { key: '/a', revision: third, value: '3', previous: { key: '/a', value: '2', revision: second } },
        ]);
      });

      it('is idempotent, and does not go back', async () => {
        const first = await put(store, '/a', '1');
        const second = await put(store, '/a', '2');
        await store.compact(second);
        await store.compact(second);
        await store.compact(first);
        await expect(store.list('/', { revision: first })).rejects.toMatchObject({ oldest: second });
        expect(await contents(store, '/', second)).toEqual({ '/a': '2' });
      });

      it('rejects a future revision', async () => {
        const revision = await put(store, '/a', '1');
        await expect(store.compact(revision + 10)).rejects.toBeInstanceOf(StoreAhead);
        expect(await contents(store, '/', revision)).toEqual({ '/a': '1' });
      });

      it('handles keys that were deleted and created again around it', async () => {
        await put(store, '/a', '1');
        const deleted = await store.commit([{ key: '/a', value: null }]);
        await store.compact(deleted);
        expect(await contents(store)).toEqual({});
        const created = await store.commit([{ key: '/a', value: Buffer.from('2'), expect: 0 }]);
        const watch = watching(store, deleted);
        await watch.through(created);
        expect(watch.changes.map(plainChange)).toEqual([
          { key: '/a', revision: created, value: '2', previous: undefined },
        ]);
        expect(await contents(store, '/', deleted)).toEqual({});
        await store.compact(created);
        expect(await contents(store)).toEqual({ '/a': '2' });
      });

      it('leaves a watch that is up to date alone', async () => {
        const watch = watching(store, await store.revision());
        const revision = await put(store, '/a', '1');
        await watch.through(revision);
        await store.compact(revision);
        const next = await put(store, '/a', '2');
        await watch.through(next);
        expect(watch.changes).toHaveLength(2);
      });
    });

    describe('many writers at once', () => {
      it('gives each commit its own revision, and delivers them in order', async () => {
        const watch = watching(store, await store.revision());
        const revisions = await Promise.all(Array.from({ length: 300 }, (_, i) => put(store, `/k${i}`, `${i}`)));
        const last = Math.max(...revisions);
        expect(new Set(revisions).size).toBe(300);
        expect(await store.revision()).toBe(last);
        await watch.through(last);
        const told = watch.changes.map((change) => change.revision);
        expect(told).toEqual([...revisions].sort((a, b) => a - b));
        for (const [i, revision] of revisions.entries()) {
          expect((await store.get(`/k${i}`))?.revision).toBe(revision);
        }
      });

      it('shows no reader a change before its commit, and no change later than it', async () => {
        let done = false;
        const seen = new Map<string, number>();
        const readers = Array.from({ length: 4 }, async () => {
          while (!done) {
            const asked = await store.revision();
            // Changes that are committed while the list is on its way may be missing from it.
            const committed = new Map(seen);
            const { rows, revision } = await store.list('/');
            expect(revision).toBeGreaterThanOrEqual(asked);
            for (const row of rows) {
              expect(row.revision).toBeLessThanOrEqual(revision);
              expect(row.revision).toBeGreaterThanOrEqual(committed.get(row.key) ?? 0);
            }
            await turn();
          }
        });
        const writers = Array.from({ length: 16 }, async (_, writer) => {
          for (let i = 0; i < 30; i++) {
            const key = `/k${writer}`;
            const revision = await put(store, key, `${i}`);
            seen.set(key, revision);
            expect(await store.get(key)).toMatchObject({ revision });
          }
        });
        await Promise.all(writers);
        done = true;
        await Promise.all(readers);
      });

      it('delivers only changes under the prefix of a watch, from history and live', async () => {
        const start = await store.revision();
        await put(store, '/a/1', 'past');
        await put(store, '/b/1', 'past');
        const watch = watching(store, start, '/a/');
        await put(store, '/b/2', 'live');
        await store.commit([
          { key: '/a/2', value: Buffer.from('both') },
          { key: '/b/3', value: Buffer.from('both') },
        ]);
        await watch.through(await store.commit([{ key: '/a/1', value: null }]));
        expect(watch.changes.map(({ key, value }) => [key, value && String(value)])).toEqual([
          ['/a/1', 'past'],
          ['/a/2', 'both'],
          ['/a/1', null],
        ]);
      });

      it('lets a watcher read a change that was delivered', async () => {
        const found: Promise<Row | undefined>[] = [];
        const expected: Change[] = [];
        let told = () => {};
        const all = new Promise<void>((resolve) => {
          told = resolve;
        });
        store.watch(await store.revision(), {
          changes(batch) {
            for (const change of batch) {
              expected.push(change);
              found.push(store.get(change.key));
            }
            if (expected.length === 100) told();
          },
          closed() {},
        });
        await Promise.all(Array.from({ length: 100 }, (_, i) => put(store, `/k${i}`, `${i}`)));
        await all;
        const rows = await Promise.all(found);
        expect(rows.map((row) => row?.revision)).toEqual(expected.map((change) => change.revision));
      });
    });

    describe('close', () => {
      it('completes commits in progress', async () => {
        const commits = Array.from({ length: 50 }, (_, i) => put(store, `/k${i}`, `${i}`));
        await store.close();
        const revisions = await Promise.all(commits);
        expect(new Set(revisions).size).toBe(50);
      });

      it('ends watches, and rejects later requests', async () => {
        const watch = watching(store, await store.revision());
        await watch.through(await put(store, '/a', '1'));
        await store.close();
        expect(await watch.closed).toBeUndefined();
        await expect(store.get('/a')).rejects.toBeInstanceOf(StoreUnavailable);
        await expect(store.list('/')).rejects.toBeInstanceOf(StoreUnavailable);
        await expect(put(store, '/a', '2')).rejects.toBeInstanceOf(StoreUnavailable);
        await expect(store.compact(1)).rejects.toBeInstanceOf(StoreUnavailable);
        expect(await watching(store, 1).closed).toBeInstanceOf(StoreUnavailable);
        await store.close();
      });
    });
  });
}

export function put(store: Store, key: string, value: string): Promise<number> {
  return store.commit([{ key, value: Buffer.from(value) }]);
}

export async function contents(store: Store, prefix = '', revision?: number): Promise<Record<string, string>> {
  const { rows } = await store.list(prefix, revision === undefined ? {} : { revision });
  return Object.fromEntries(rows.map((row) => [row.key, String(row.value)]));
}

/** Watch that keeps its changes. */
export interface Watching extends Subscription {
  readonly changes: Change[];
  readonly batches: (readonly Change[])[];
  /** Resolves when a change of this revision, or a later one, has been received; rejects when the watch ends before. */
  through(revision: number): Promise<void>;
  readonly closed: Promise<Error | undefined>;
  readonly isClosed: boolean;
}

export function watching(store: Store, after: number, prefix?: string): Watching {
  const changes: Change[] = [];
  const batches: (readonly Change[])[] = [];
  let waiting: { revision: number; resolve: () => void; reject: (error: Error) => void }[] = [];
  let isClosed = false;
  let close: (error: Error | undefined) => void;
  const closed = new Promise<Error | undefined>((resolve) => {
    close = resolve;
  });
  const reached = () => changes.at(-1)?.revision ?? 0;
  const { stop } = store.watch(after, {
    ...(prefix !== undefined && { prefix }),
    changes(batch) {
      expect(batch.length).toBeGreaterThan(0);
      batches.push(batch);
      changes.push(...batch);
      for (const { revision, resolve } of waiting) if (revision <= reached()) resolve();
      waiting = waiting.filter(({ revision }) => revision > reached());
    },
    closed(error) {
      isClosed = true;
      close(error);
      for (const { reject } of waiting) reject(error ?? new Error('the watch was closed'));
    },
  });
  return {
    changes,
    batches,
    closed,
    get isClosed() {
      return isClosed;
    },
    stop,
    through: (revision) =>
      new Promise((resolve, reject) => {
        if (revision <= reached()) resolve();
        else waiting.push({ revision, resolve, reject });
      }),
  };
}

function plain(row: Row | undefined) {
  return row && { key: row.key, value: String(row.value), revision: row.revision };
}

function plainChange({ key, revision, value, previous }: Change) {
  return { key, revision, value: value === null ? null : String(value), previous: plain(previous) };
}

function names(rows: readonly Row[]): string {
  return rows.map((row) => row.key.slice(row.key.lastIndexOf('/') + 1)).join('');
}

import { describe, expect, test } from 'vitest';
import { put } from '../../../test/support/store/contract.ts';
import { silent } from '../../base/log.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import type { ArchivedChange } from '../../store/archive/archive.ts';
import { MemoryStore } from '../../store/memory/memory-store.ts';
import type { Change, Store } from '../../store/store.ts';
import type { SavedArchive } from '../taking/history.ts';
import { takeBackup } from '../taking/take.ts';
import { readState } from './state.ts';

const clock = new ControlledClock(1_000_000);
const about = { cluster: 'dev', release: { version: '0.3.0', level: 1 }, store: 'memory' };
const signal = new AbortController().signal;

/** An archive of everything that a store has written since it was created. */
function archiveOf(store: Store, oldest = { revision: 1, time: clock.now() }): SavedArchive {
  const changes: ArchivedChange[] = [];
  const states: { revision: number; rows: ReadonlyMap<string, { key: string; revision: number; value: Buffer }> }[] =
    [];
  const rows = new Map<string, { key: string; revision: number; value: Buffer }>();
  const add = ({ key, revision, value, previous }: Change) => {
    changes.push({ key, revision, value, time: clock.now(), origin: undefined, replaced: previous?.revision ?? 0 });
    if (value) rows.set(key, { key, revision, value });
    else rows.delete(key);
    states.push({ revision, rows: new Map(rows) });
  };
  store.watch(0, { changes: (batch) => batch.forEach(add), closed: () => undefined });
  return {
    bounds: () => ({ oldest, newest: oldest }),
    reached: async () => undefined,
    revisionAt: (time) => changes.findLast((change) => change.time <= time)?.revision ?? oldest.revision,
    get: async (key, revision) => states.findLast((state) => state.revision <= revision)?.rows.get(key),
    async *changes({ after = 0, until = 0 }) {
      yield* changes.filter(({ revision }) => revision > after && revision <= until);
    },
  };
}

const withoutHistory = (error: unknown) => {
  throw error;
};

async function backup(store: Store, archive?: SavedArchive, since = 0): Promise<Buffer> {
  const options = {
    store,
    archive,
    since,
    about,
    files: async () => ({ settings: '{}' }),
    withoutHistory,
    share: 1,
    clock,
    signal,
  };
  const { content } = await takeBackup(options);
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* bytes(content: Buffer): AsyncGenerator<Buffer> {
  yield content;
}

const textOf = (rows: readonly { key: string; revision: number; value: Buffer }[]) =>
  rows.map(({ key, revision, value }) => [key, revision, value.toString()]);

describe('a backup of a store', () => {
  test('has all its rows, in order of revision', async () => {
    const store = new MemoryStore({ clock, log: silent });
    for (const [key, value] of Object.entries({ '/b': '1', '/a': '2', '/c': '3' })) await put(store, key, value);
    await put(store, '/b', '4');
    const state = await readState(bytes(await backup(store)));
    expect(textOf(state.rows)).toEqual([
      ['/a', 3, '2'],
      ['/c', 4, '3'],
      ['/b', 5, '4'],
    ]);
    expect(state).toMatchObject({ about: { ...about, revision: 5, time: clock.now() }, files: { settings: '{}' } });
    expect(state.end).toEqual({ rows: 3, changes: 0, damaged: [] });
  });

  test('has the state at every moment of its history', async () => {
    const store = new MemoryStore({ clock, log: silent, historyMilliseconds: 1e9 });
    await put(store, '/before', 'kept');
    const archive = archiveOf(store);
    const states = new Map<number, unknown>();
    for (let step = 0; step < 60; step++) {
      await clock.advance(1_000);
      const key = `/k${(step * 7) % 11}`;
      if (step % 5 === 4)
        await store.commit([
          { key, value: null },
          { key: '/always', value: Buffer.from(`${step}`) },
        ]);
      else await put(store, key, `${step}`);
      states.set(clock.now(), textOf((await store.list('')).rows));
    }
    const sorted = (rows: any) => [...rows].sort((a, b) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1));
    const content = await backup(store, archive);
    for (const [time, rows] of states) {
      const state = await readState(bytes(content), time + 500 > clock.now() ? time : time + 500);
      expect(sorted(textOf(state.rows)), `${time}`).toEqual(sorted(rows));
    }
    const [middle] = [...states.keys()].slice(30);
    const short = await backup(store, archive, middle);
    const { rows, about: found } = await readState(bytes(short), middle);
    expect(sorted(textOf(rows))).toEqual(sorted(states.get(middle!)));
    expect(found.oldest).toMatchObject({ time: middle });
    await expect(readState(bytes(short), middle! - 1)).rejects.toThrow('is not among them');
    await expect(readState(bytes(short), clock.now() + 1)).rejects.toThrow('is not among them');
  });

  test('names the rows that cannot be read, and has all others', async () => {
    const store = new MemoryStore({ clock, log: silent });
    for (const key of ['/a', '/b', '/c']) await put(store, key, key);
    const list: Store['list'] = async (prefix, options) => {
      const page = await store.list(prefix, options);
      options?.damaged?.({ key: '/b', revision: 2, error: new Error('checksum') as never });
      return { ...page, rows: page.rows.filter(({ key }) => key !== '/b') };
    };
    const damaged = { revision: () => store.revision(), list };
    const state = await readState(bytes(await backup(damaged as unknown as Store)));
    expect(state.rows.map(({ key }) => key)).toEqual(['/a', '/c']);
    expect(state.end.damaged).toEqual([{ key: '/b', revision: 2 }]);
  });
});

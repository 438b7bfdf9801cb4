import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { scratchDirectories } from '../../../../test/support/store-directories.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { type Change, StoreAhead, StoreConflict, StoreFull, StoreUnavailable } from '../../store.ts';
import { Database } from '../database.ts';
import { GroupCommit } from './group-commit.ts';

const directory = await scratchDirectories();

describe('group commit', () => {
  let database: Database;
  let commits: GroupCommit;
  let published: Change[];
  /** Hooks that check the disk space of each flush, in order. */
  let room: (() => Promise<void>)[];
  let flushes: number;

  beforeEach(async () => {
    const path = directory();
    await mkdir(path);
    database = new Database(join(path, 'data.mdb'), 2 ** 24);
    published = [];
    room = [];
    flushes = 0;
    commits = new GroupCommit({
      database,
      clock: systemClock,
      historyMilliseconds: 1000,
      historyBytes: 2 ** 20,
      reserve: { take: async () => room[flushes++]?.() },
      publish: (changes) => published.push(...changes),
    });
  });

  afterEach(async () => {
    await commits.close();
    await database.close();
  });

  const put = (key: string, value: string, expected?: number) =>
    commits.commit([{ key, value: Buffer.from(value), ...(expected === undefined ? {} : { expect: expected }) }]);

  it('flushes commits together that arrive during a flush', async () => {
    await Promise.all(Array.from({ length: 50 }, (_, i) => put(`/k${i}`, '1')));
    expect(flushes).toBe(1);
    const gate = door();
    room[1] = gate.pass;
    const first = put('/first', '1');
    await gate.reached;
    const others = Array.from({ length: 50 }, (_, i) => put(`/k${i}`, '2'));
    gate.open();
    const revisions = await Promise.all([first, ...others]);
    expect(flushes).toBe(3);
    expect(revisions).toEqual(revisions.map((_, i) => (revisions[0] as number) + i));
  });

  it('checks against pending writes, and reports a conflict when they are on disk', async () => {
    const gate = door();
    room[0] = gate.pass;
    const created = put('/a', '1', 0);
    await gate.reached;
    let settled = false;
    const rejected = put('/a', '2', 0).catch((error) => {
      settled = true;
      return error;
    });
    const updated = put('/a', '3', 2);
    await new Promise(setImmediate);
    expect(settled).toBe(false);
    gate.open();
    expect(await created).toBe(2);
    const conflict = await rejected;
    expect(conflict).toBeInstanceOf(StoreConflict);
    expect(conflict.revision).toBe(2);
    expect(await updated).toBe(3);
    expect(published.map((change) => [change.revision, String(change.value), change.previous?.revision])).toEqual([
      [2, '1', undefined],
      [3, '3', 2],
    ]);
  });

  it('fails all commits that were based on a failed flush', async () => {
    const before = await put('/a', '1');
    const gate = door();
    room[1] = gate.pass;
    const failing = put('/a', '2');
    await gate.reached;
    const onTop = [put('/a', '3', before + 1), put('/b', '1', 0), put('/a', '4', before), commits.compact(before)];
    gate.fail(new StoreFull('no room'));
    for (const commit of [failing, ...onTop]) await expect(commit).rejects.toBeInstanceOf(StoreFull);
    expect(published.map((change) => change.revision)).toEqual([before]);
    expect(database.state().revision).toBe(before);

    const after = await put('/a', '5', before);
    expect(after).toBeGreaterThan(before + 2);
    await expect(put('/b', '1', after)).rejects.toMatchObject({ revision: 0 });
    expect(published.at(-1)?.previous?.revision).toBe(before);
  });

  it('compacts at a revision that is in the file before its flush has ended', async () => {
    const gate = door();
    const write = database.write.bind(database);
    database.write = async (batch) => {
      await write(batch);
      await gate.pass();
    };
    const created = put('/a', '1');
    await gate.reached;
    const { revision } = database.state();
    expect(revision).toBeGreaterThan(commits.revision);
    const compacted = commits.compact(revision);
    const ahead = expect(commits.compact(revision + 1)).rejects.toThrow(StoreAhead);
    gate.open();
    expect(await created).toBe(revision);
    await compacted;
    expect(database.state()).toMatchObject({ revision, compacted: revision });
    await ahead;
  });

  it('skips the revisions of failed commits when it trims', async () => {
    await put('/a', '1');
    room[1] = () => Promise.reject(new StoreFull('no room'));
    await expect(Promise.all([put('/a', '2'), put('/b', '2')])).rejects.toBeInstanceOf(StoreFull);
    const last = await put('/a', '3');
    await commits.compact(last - 1);
    expect(database.state()).toMatchObject({ revision: last, compacted: last - 1 });
    await commits.compact(last);
    expect(database.state()).toMatchObject({ revision: last, compacted: last, historyBytes: 0 });
    expect([...database.records(0)]).toHaveLength(1);
  });

  it('discards only history that nobody can request', async () => {
    for (let i = 0; i < 10; i++) await put(`/k${i % 3}`, `${i}`);
    const deleted = await commits.commit([{ key: '/k0', value: null }]);
    expect([...database.records(0)]).toHaveLength(11);
    await commits.compact(deleted - 1);
    // The newest change of each key, and the deletion.
    expect([...database.records(0)]).toHaveLength(4);
    expect(database.entry('/k0')).toMatchObject({ deleted: true });
    await commits.compact(deleted);
    expect([...database.records(0)]).toHaveLength(2);
    expect(database.entry('/k0')).toBeUndefined();
    expect(database.state().historyBytes).toBe(0);
  });

  it('accepts no commits after an error that LMDB does not recover from', async () => {
    database.probe = () => {
      throw new Error('MDB_PANIC');
    };
    room[0] = () => Promise.reject(new Error('EIO'));
    await expect(put('/a', '1')).rejects.toMatchObject({ name: 'StoreUnavailable', cause: new Error('EIO') });
    await expect(async () => put('/a', '1')).rejects.toThrow('must be opened again');
    await expect(async () => put('/a', '1')).rejects.toBeInstanceOf(StoreUnavailable);
  });
});

/** A gate that reports when a caller waits at it. */
function door() {
  let open = () => {};
  let fail = (_: Error) => {};
  let arrive = () => {};
  const reached = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const opened = new Promise<void>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  const pass = () => {
    arrive();
    return opened;
  };
  return { open, fail, reached, pass };
}

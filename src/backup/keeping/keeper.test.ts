import { beforeEach, describe, expect, test } from 'vitest';
import { MemoryTarget } from '../../../test/support/backup/memory-target.ts';
import { silent } from '../../base/log.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import { StoreCompacted } from '../../store/store.ts';
import type { BackupEnd } from '../file/content.ts';
import { parseBackupName } from '../names.ts';
import type { Taking } from '../taking/take.ts';
import { TargetError } from '../target.ts';
import { BackupKeeper, type KeeperOptions } from './keeper.ts';

const START = '2030-01-01T00:00:00Z';
let clock: ControlledClock;
let target: MemoryTarget;
let outcomes: unknown[];
let starts: number[];
const signal = new AbortController().signal;

beforeEach(() => {
  clock = new ControlledClock(START);
  target = new MemoryTarget();
  outcomes = [];
  starts = [];
});

/** Content that needs no thread, for which a controlled clock would not wait. */
async function* content(): AsyncGenerator<Uint8Array, BackupEnd> {
  yield Buffer.from('content');
  return { rows: 2, changes: 0, damaged: [] };
}

function taking(made = content): Taking {
  const about = { cluster: 'dev', release: { version: '0.3.0', level: 1 }, store: 'memory' };
  return { about: { ...about, revision: 7, time: clock.now() }, content: made() };
}

function keeper(changes: Partial<KeeperOptions> = {}): BackupKeeper {
  return new BackupKeeper({
    cluster: 'dev',
    target,
    seal: undefined,
    policy: { hourly: 3, daily: 2 },
    async take({ since, signal: stop }) {
      stop.throwIfAborted();
      starts.push(since);
      return taking();
    },
    clock,
    log: silent,
    onOutcome: (outcome) => outcomes.push(outcome),
    ...changes,
  });
}

const kinds = () => [...target.files.keys()].map((name) => parseBackupName(name)?.kind);

/** Runs the schedule for some hours. */
async function runFor(hours: number, backups = keeper()): Promise<BackupKeeper> {
  const stop = new AbortController();
  const running = backups.run(stop.signal);
  for (let minute = 0; minute < hours * 60; minute++) await clock.advance(60_000);
  stop.abort();
  await running;
  return backups;
}

describe('the backups of a cluster', () => {
  test('are taken each hour and each day, and old ones are removed', async () => {
    await runFor(4.5);
    expect(kinds()).toEqual(['daily', 'hourly', 'hourly', 'hourly']);
    await runFor(46);
    expect(kinds().filter((kind) => kind === 'hourly')).toHaveLength(3);
    expect(kinds().filter((kind) => kind === 'daily')).toHaveLength(2);
    expect(target.files.size).toBe(5);
  });

  test('go on after a restart where they were', async () => {
    await runFor(1.5);
    const before = target.files.size;
    await runFor(0.25);
    expect(target.files.size).toBe(before);
  });

  test('continue the history of the one before that is not removed earlier', async () => {
    const backups = await runFor(2.5);
    const [daily, hourly] = [...target.files.keys()].map((name) => parseBackupName(name)!.time);
    expect(starts).toEqual([0, daily! - 60_000, hourly! - 60_000].slice(0, starts.length));
    await backups.take('manual', signal);
    await backups.take('manual', signal);
    const newest = Math.max(
      ...[...target.files.keys()]
        .map((name) => parseBackupName(name)!)
        .filter(({ kind }) => kind !== 'manual')
        .map(({ time }) => time),
    );
    expect(starts.slice(-2)).toEqual([newest - 60_000, newest - 60_000]);
    await backups.take('daily', signal);
    expect(starts.at(-1)).toBe(daily! - 60_000);
  });

  test('of the same second have different names', async () => {
    const backups = keeper();
    const taken = await Promise.all([backups.take('manual', signal), backups.take('manual', signal)]);
    expect(new Set(taken.map(({ name }) => name)).size).toBe(2);
    expect(target.files.size).toBe(2);
    expect(outcomes).toHaveLength(2);
  });

  test('leave those of other clusters alone', async () => {
    const others = ['prod-20200101T000000Z-hourly.qdbackup', 'notes.txt'];
    for (const name of others) target.files.set(name, Buffer.alloc(1));
    await runFor(6);
    expect([...target.files.keys()]).toEqual(expect.arrayContaining(others));
  });

  test('are tried again after a failure, with pauses that grow', async () => {
    target.problem = new TargetError('Unavailable', 'the server does not answer');
    const backups = await runFor(3);
    expect(backups.report()).toMatchObject({ taken: 0, lastFailure: { message: 'the server does not answer' } });
    const { failures } = backups.report();
    expect(failures).toBeGreaterThan(5);
    expect(failures).toBeLessThan(15);
    target.problem = undefined;
    await runFor(1, backups);
    expect(backups.report()).toMatchObject({ failures: 0, lastFailure: undefined });
    expect(target.files.size).toBe(1);
  });

  test('begin anew when the store has discarded the state', async () => {
    let attempts = 0;
    const overtaken = async function* (): AsyncGenerator<Uint8Array, BackupEnd> {
      yield Buffer.from('the beginning');
      throw new StoreCompacted(5);
    };
    const backups = keeper({ take: async () => taking(++attempts === 1 ? overtaken : content) });
    const done = backups.take('manual', signal);
    await clock.advance(1_000);
    const { name } = await done;
    expect(target.files.get(name)?.toString()).toBe('content');
  });

  test('leave nothing behind when they are stopped', async () => {
    const stop = new AbortController();
    stop.abort(new Error('stopped'));
    await expect(keeper().take('manual', stop.signal)).rejects.toThrow('stopped');
    expect(target.files.size).toBe(0);
    expect(outcomes).toEqual([]);
  });
});

import { beforeEach, describe, expect, test } from 'vitest';
import { MemoryTarget } from '../../../../test/support/backup/memory-target.ts';
import type { ServedTree } from '../../../api/served-action.ts';
import { BackupKeeper } from '../../../backup/keeping/keeper.ts';
import { silent } from '../../../base/log.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { backupTree } from './tree.ts';

const ADMIN = { name: 'admin', groups: ['system:masters'] };
let usual: MemoryTarget;
let other: MemoryTarget;
let tree: ServedTree;
/** Lets the backup in progress end. */
let finish: () => void;

beforeEach(() => {
  const clock = new ControlledClock();
  [usual, other] = [new MemoryTarget(), new MemoryTarget()];
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const keeper = new BackupKeeper({
    ...{ cluster: 'dev', target: usual, seal: undefined, policy: { hourly: 1, daily: 1 }, clock, log: silent },
    async take() {
      const about = {
        cluster: 'dev',
        release: { version: '1', level: 1 },
        store: 'memory',
        revision: 3,
        time: clock.now(),
      };
      async function* content() {
        await finished;
        yield Buffer.from('content');
        return { rows: 2, changes: 0, damaged: [] };
      }
      return { about, content: content() };
    },
  });
  const targetFor = async (id: string) => (id === 'elsewhere' ? other : undefined);
  tree = backupTree({ keeper, isScheduled: true, targetFor, signal: new AbortController().signal });
});

const ask = async (method: string, query = '', path = '/backups', user = ADMIN): Promise<any> =>
  tree.answer({ user, method, path, query: new URLSearchParams(query), body: async () => Buffer.alloc(0) });

describe('administrators', () => {
  test('have a backup taken once for each request, and learn how it ended', async () => {
    expect(await ask('GET')).toMatchObject({ target: 'memory', isScheduled: true, failures: 0, request: undefined });
    expect(await ask('POST', 'id=one')).toMatchObject({ request: { id: 'one', state: 'running' } });
    expect(await ask('POST', 'id=one')).toMatchObject({ request: { id: 'one', state: 'running' } });
    await expect(ask('POST', 'id=two')).rejects.toMatchObject({ reason: 'Conflict' });
    finish();
    await expect.poll(async () => (await ask('GET')).request).toMatchObject({ state: 'done', taken: { objects: 2 } });
    expect(usual.files.size).toBe(1);
    expect((await ask('GET')).newest.name).toBe([...usual.files.keys()][0]);
  });

  test('learn why it failed, and that the target does not answer', async () => {
    finish();
    usual.problem = new Error('the disk is gone');
    await ask('POST', 'id=one');
    await expect
      .poll(async () => (await ask('GET')).request)
      .toMatchObject({ state: 'failed', message: 'the disk is gone' });
    expect(await ask('GET')).toMatchObject({
      problem: 'the disk is gone',
      failures: 1,
      lastFailure: 'the disk is gone',
    });
  });

  test('get it at the target that the owner of the data directory has named', async () => {
    finish();
    await ask('POST', 'id=elsewhere');
    await expect.poll(() => other.files.size).toBe(1);
    expect(usual.files.size).toBe(0);
  });

  test.each([
    ['POST', '', '/backups', 'BadRequest'],
    ['POST', 'id=../x', '/backups', 'BadRequest'],
    ['POST', `id=${'x'.repeat(65)}`, '/backups', 'BadRequest'],
    ['DELETE', '', '/backups', 'MethodNotAllowed'],
    ['GET', '', '/backups/one', 'NotFound'],
  ])('may not ask %s %s of %s', async (method, query, path, reason) => {
    await expect(ask(method, query, path)).rejects.toMatchObject({ reason });
  });
});

test.each(['system:anonymous', 'system:unsecured'])('%s learns nothing', async (name) => {
  await expect(ask('GET', '', '/backups', { name, groups: [] })).rejects.toMatchObject({ reason: 'Forbidden' });
});

/** Tests the history that a cluster keeps in its data directory: across restarts, crashes, moves and damage. */
import { existsSync } from 'node:fs';
import { readdir, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type Backend,
  backendMissing,
  durableStores,
  startBackend,
  storeArguments,
} from '../support/store/backends.ts';
import { newDirectory, type Qd, runQd, startQd } from './program.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const MAP = `${MAPS}/a`;

let directory: string;
let backend: Backend | undefined;
const running: Qd[] = [];

const start = async (flags: readonly string[] = []) => {
  const qd = await startQd({ directory, flags });
  running.push(qd);
  return qd;
};
const data = () => join(directory, 'data');

beforeEach(async () => {
  directory = await newDirectory();
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((qd) => qd.stop('SIGKILL')));
  await backend?.remove();
  backend = undefined;
  await rm(directory, { recursive: true, force: true });
});

const create = (qd: Qd) => qd.request('POST', MAPS, { body: { metadata: { name: 'a' }, data: { value: '0' } } });

/** Writes a value, and resolves with its version. */
async function write(qd: Qd, value: string): Promise<string> {
  const body = { data: { value } };
  const answer = await qd.request('PATCH', MAP, { body, type: 'application/merge-patch+json' });
  expect(answer.code).toBe(200);
  return answer.body.metadata.resourceVersion;
}

/** History is opened after the server is ready. */
async function valueAt(qd: Qd, version: string): Promise<string> {
  const path = `/history${MAP}?at=${version}`;
  await expect.poll(async () => (await qd.request('GET', path)).code, { timeout: 20_000 }).toBe(200);
  return (await qd.request('GET', path)).body.data.value;
}

/** Who wrote which value, the newest first. */
async function changes(qd: Qd): Promise<readonly [string, string][]> {
  const { body } = await qd.request('GET', `/history${MAP}`);
  return body.items.map(({ user, object }: any) => [user, object.data.value]);
}

describe.each(durableStores)('history on %s', (store) => {
  test.skipIf(backendMissing(store))('goes on after a restart and after SIGKILL', async () => {
    backend = await startBackend(store);
    const flags = storeArguments(store, backend.settings);
    let qd = await start(flags);
    await create(qd);
    const versions = [await write(qd, '1')];
    await qd.stop();
    qd = await start(flags);
    versions.push(await write(qd, '2'));
    await qd.stop('SIGKILL');
    qd = await start(flags);
    versions.push(await write(qd, '3'));
    for (const [i, version] of versions.entries()) expect(await valueAt(qd, version)).toBe(`${i + 1}`);
    const [[user]] = (await changes(qd)) as [[string, string]];
    expect(await changes(qd)).toEqual(['3', '2', '1', '0'].map((value) => [user, value]));
    expect(user).not.toBe('');
    const { text } = await qd.request('GET', '/metrics');
    expect(text).toMatch(/^quarterdeck_history_bytes [1-9]/m);
    expect(text).toMatch(/^quarterdeck_history_oldest_timestamp_seconds 1/m);
  });
});

test('history follows the objects into another directory', async () => {
  let qd = await start();
  await create(qd);
  const first = await write(qd, '1');
  expect(await valueAt(qd, first)).toBe('1');
  await qd.stop();
  const target = join(directory, 'elsewhere');
  const moved = await runQd(['store', 'migrate', '--data-dir', data(), '--to', 'embedded', '--store-dir', target]);
  expect(moved).toMatchObject({ code: 0 });
  qd = await start();
  const second = await write(qd, '2');
  expect(await valueAt(qd, second)).toBe('2');
  expect(await valueAt(qd, first)).toBe('1');
  expect((await changes(qd)).map(([, value]) => value)).toEqual(['2', '1', '0']);
  await qd.stop();
  expect(await runQd(['reset', '--data-dir', data(), '--yes'])).toMatchObject({ code: 0 });
  expect(existsSync(join(data(), 'history'))).toBe(false);
});

test('damaged history is kept aside, and the cluster starts', async () => {
  let qd = await start();
  await create(qd);
  expect(await valueAt(qd, await write(qd, '1'))).toBe('1');
  await qd.stop();
  await truncate(join(data(), 'history', 'data.mdb'), 9_000);
  qd = await start();
  await expect.poll(() => qd.output()).toContain('history is damaged; it is kept aside, and begins again');
  expect(await valueAt(qd, await write(qd, '2'))).toBe('2');
  expect((await readdir(data())).filter((name) => name.startsWith('history')).sort()).toEqual([
    'history',
    expect.stringMatching(/^history\.before-/),
  ]);
});

test('no history is kept on disk with --history-duration 0', async () => {
  const qd = await start(['--history-duration', '0']);
  await create(qd);
  // What is kept for watches is still there.
  expect(await valueAt(qd, await write(qd, '1'))).toBe('1');
  expect(await readdir(data())).not.toContain('history');
});

import { X509Certificate } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { silent } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { type Clock, systemClock } from '../../base/time/clock.ts';
import { MemoryStore } from '../../store/memory/memory-store.ts';
import type { Store, Watcher, Write } from '../../store/store.ts';
import { watchKey } from '../store/watch-key.ts';
import { openPki, type Pki } from './pki.ts';
import { forgetFormer, rotate } from './rotate.ts';
import { changeSharedKeys, SHARED_KEYS, shareKeys } from './shared-keys.ts';

const tools = { clock: systemClock, random: systemRandom, log: silent };
let home: string;
let store: MemoryStore;
beforeEach(async () => {
  home = temporaryDirectory();
  store = new MemoryStore({ clock: systemClock });
});
afterEach(async () => {
  await store.close();
});

/** Starts a server with its own data directory, as far as its keys are concerned. */
async function start(name: string): Promise<Pki> {
  const directory = join(home, name);
  await shareKeys({ ...tools, store, directory });
  return openPki({ ...tools, directory, names: ['localhost'] });
}
const rotateShared = (what: 'authority' | 'service-account-key') =>
  changeSharedKeys(store, home, (directory) => rotate(what, { ...tools, directory }));
const trusts = ({ authority }: Pki, { admin }: Pki) =>
  authority
    .split(/(?<=-----END CERTIFICATE-----\n)/)
    .filter((pem) => pem !== '')
    .some((pem) => new X509Certificate(admin.certificate).verify(new X509Certificate(pem).publicKey));

test('servers that start at the same time have the same authority and token key, and certificates of their own', async () => {
  const [a, b] = await Promise.all([start('a'), start('b')]);
  expect(b.authority).toBe(a.authority);
  expect(b.serviceAccountKey).toBe(a.serviceAccountKey);
  expect(b.serving.certificate).not.toBe(a.serving.certificate);
  expect(trusts(a, b) && trusts(b, a)).toBe(true);
  expect((await start('a')).created).toEqual([]);
});

test('the keys of the first server become those of all, and unrelated keys are moved aside', async () => {
  const own = await openPki({ ...tools, directory: join(home, 'a'), names: [] });
  await openPki({ ...tools, directory: join(home, 'b'), names: [] });
  expect((await start('a')).authority).toBe(own.authority);
  const b = await start('b');
  expect(b.authority).toBe(own.authority);
  expect(b.created.toSorted()).toEqual(['admin certificate', 'front-proxy certificate', 'serving certificate']);
  const aside = (await readdir(join(home, 'b'))).filter((name) => name.startsWith('replaced-'));
  expect((await readdir(join(home, 'b', aside[0]!))).toSorted()).toEqual([
    'ca.crt',
    'ca.key',
    'front-proxy-ca.crt',
    'front-proxy-ca.key',
    'sa.key',
  ]);
});

test('a rotation reaches all servers, which trust each other all the while', async () => {
  const before = { a: await start('a'), b: await start('b') };
  await rotateShared('authority');
  await rotateShared('service-account-key');
  const a = await start('a');
  expect(a.authority).toContain(before.a.authority);
  expect(a.serviceAccountKey).not.toBe(before.a.serviceAccountKey);
  expect(a.formerServiceAccountKeys).toHaveLength(1);
  expect(trusts(a, before.b)).toBe(true);
  const b = await start('b');
  expect([b.authority, b.serviceAccountKey]).toEqual([a.authority, a.serviceAccountKey]);
  expect((await readdir(join(home, 'b'))).some((name) => name.startsWith('replaced-'))).toBe(false);
  await changeSharedKeys(store, home, forgetFormer);
  const later = await start('b');
  expect(later.formerServiceAccountKeys).toEqual([]);
  expect(trusts(later, before.b)).toBe(false);
  expect((await readdir(home)).toSorted()).toEqual(['a', 'b']);
});

test('two rotations at the same time both happen', async () => {
  await start('a');
  await Promise.all([rotateShared('service-account-key'), rotateShared('service-account-key')]);
  expect((await start('a')).formerServiceAccountKeys).toHaveLength(2);
});

test('keys cannot be rotated before a cluster has some, and those of a newer release are left alone', async () => {
  await expect(rotateShared('authority')).rejects.toThrow('start a server of the cluster first');
  await store.commit([{ key: SHARED_KEYS, value: Buffer.from('{"format":2}') }]);
  await expect(start('a')).rejects.toThrow('format 2, and this qd supports 1');
});

test('a watch tells of each change, also after it was interrupted', async () => {
  await start('a');
  const watchers: Watcher[] = [];
  const watched: Pick<Store, 'revision' | 'watch'> = {
    revision: () => store.revision(),
    watch(after, watcher) {
      watchers.push(watcher);
      return store.watch(after, watcher);
    },
  };
  const stop = new AbortController();
  let calls = 0;
  let reached = () => {};
  const called = (count: number) =>
    new Promise<void>((resolve) => {
      reached = () => {
        if (calls >= count) resolve();
      };
      reached();
    });
  const timers: (() => void)[] = [];
  const clock: Clock = {
    now: () => 0,
    timer(_, task) {
      timers.push(task);
      return { cancel() {} };
    },
  };
  const onChange = () => {
    calls++;
    reached();
  };
  watchKey(watched as Store, SHARED_KEYS, { clock, log: silent, signal: stop.signal, onChange });
  await called(1);
  await rotateShared('service-account-key');
  await called(2);
  const other: Write = { key: '/registry/core/configmaps/default/a', value: Buffer.from('{}') };
  await store.commit([other]);
  expect(calls).toBe(2);
  watchers[0]!.closed(new Error('compacted'));
  timers.shift()!();
  await called(3);
  expect(watchers).toHaveLength(2);
  stop.abort();
});

test('a cluster whose keys were shared without a front-proxy authority gets one, which all servers have', async () => {
  await start('a');
  const row = (await store.get(SHARED_KEYS))!;
  const { format, files } = JSON.parse(row.value.toString());
  const older = Object.fromEntries(Object.entries(files).filter(([name]) => !name.startsWith('front-proxy')));
  const value = Buffer.from(JSON.stringify({ format, files: older }));
  await store.commit([{ key: SHARED_KEYS, value, expect: row.revision }]);
  const [b, c] = await Promise.all([start('b'), start('c')]);
  expect(b.frontProxy.authority).toBe(c.frontProxy.authority);
  expect((await start('a')).frontProxy.authority).toBe(b.frontProxy.authority);
});

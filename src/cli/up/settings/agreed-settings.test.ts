import { expect, test } from 'vitest';
import { systemClock } from '../../../base/time/clock.ts';
import { MemoryStore } from '../../../store/memory/memory-store.ts';
import type { Settings } from '../flags.ts';
import { agreeOn, readAgreed } from './agreed-settings.ts';

const openStore = () => new MemoryStore({ clock: systemClock });

const own = { version: '0.1.0', level: 1 };

const first = { serviceClusterIpRange: '10.50.0.0/16', clusterDomain: 'lab.example', name: 'one' } as Settings;

test('the first server records its settings, others add what is missing', async () => {
  const store = openStore();
  expect(await readAgreed(store, own)).toEqual({});
  await agreeOn(store, first, own);
  expect(await readAgreed(store, own)).toEqual({ serviceClusterIpRange: '10.50.0.0/16', clusterDomain: 'lab.example' });
  await agreeOn(store, { ...first, clusterCidr: '10.60.0.0/16', name: 'two' }, own);
  expect(await readAgreed(store, own)).toMatchObject({ clusterCidr: '10.60.0.0/16' });
});

test('of two first servers that differ, one is rejected', async () => {
  const store = openStore();
  const starts = [first, { ...first, clusterDomain: 'other.example' }].map((settings) => agreeOn(store, settings, own));
  const results = await Promise.allSettled(starts);
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
});

test('agreement changes nothing when there is nothing to add', async () => {
  const store = openStore();
  await agreeOn(store, first, own);
  const before = await store.revision();
  await agreeOn(store, first, own);
  expect(await store.revision()).toBe(before);
});

test('settings of a later release are rejected', async () => {
  const store = openStore();
  await store.commit([{ key: '/quarterdeck/settings', value: Buffer.from('{"format":2}') }]);
  await expect(readAgreed(store, own)).rejects.toThrow('have format 2, which this qd does not know');
});

test('a server below the level of the cluster is rejected, and does not lower it', async () => {
  const store = openStore();
  await agreeOn(store, first, own);
  const row = await store.get('/quarterdeck/settings');
  expect(JSON.parse(row!.value.toString())).toMatchObject({ format: 1, level: 1, release: '0.1' });
  const value = Buffer.from(JSON.stringify({ format: 1, level: 2, settings: {} }));
  await store.commit([{ key: '/quarterdeck/settings', value }]);
  const rejection =
    'needs servers of level 2, and this is Quarterdeck 0.1.0 of level 1; install the release of its other';
  await expect(readAgreed(store, own)).rejects.toThrow(rejection);
  await expect(agreeOn(store, first, own)).rejects.toThrow(rejection);
  expect((await store.get('/quarterdeck/settings'))?.value).toEqual(value);
});

test('a server of a later release adds settings, and leaves the level and the release to the leader', async () => {
  const store = openStore();
  await agreeOn(store, first, own);
  await agreeOn(store, { ...first, clusterCidr: '10.60.0.0/16' }, { version: '0.2.0', level: 2 });
  const row = await store.get('/quarterdeck/settings');
  expect(JSON.parse(row!.value.toString())).toMatchObject({
    level: 1,
    release: '0.1',
    settings: { clusterCidr: '10.60.0.0/16' },
  });
});

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { contents, put, watching } from '../../../test/support/store/contract.ts';
import { otherProcess, scratchDirectories } from '../../../test/support/store-directories.ts';
import type { Logger } from '../../base/log.ts';
import { systemClock } from '../../base/time/clock.ts';
import { StoreCompacted, StoreDamaged } from '../store.ts';
import { openEmbeddedStore } from './open.ts';
import { checkStore, copyStore, deleteDamaged } from './snapshot.ts';
import { visitValues } from './values.ts';

const directory = await scratchDirectories();
const clock = systemClock;

/** A stopped store with one changed byte in a value. */
async function damagedStore(): Promise<string> {
  const path = directory();
  const store = await openEmbeddedStore({ directory: path, clock });
  for (const key of ['/a', '/b', '/c']) await put(store, key, `the first value of ${key}`);
  for (const key of ['/a', '/b', '/c']) await put(store, key, `the second value of ${key}`);
  await store.close();
  await flip(path, 'the second value of /b');
  return path;
}

async function flip(path: string, text: string): Promise<void> {
  const file = join(path, 'data.mdb');
  const bytes = await readFile(file);
  // Free pages may still contain the value.
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) bytes[at + 4]! ^= 0x20;
  await writeFile(file, bytes);
}

describe('a value that was changed on disk', () => {
  it('is rejected with its key, and all others can be read', async () => {
    const lines: unknown[] = [];
    const log = { error: (message: string, fields: object) => lines.push([message, fields]) } as unknown as Logger;
    const store = await openEmbeddedStore({ directory: await damagedStore(), clock, log });
    expect(lines).toEqual([
      ['a stored value is damaged and cannot be read', expect.objectContaining({ key: '/b', revision: 6 })],
    ]);
    await expect(store.get('/b')).rejects.toMatchObject({
      name: 'StoreDamaged',
      key: '/b',
      message: 'the value of /b at revision 6 is damaged: its checksum does not match',
    });
    await expect(store.list('/')).rejects.toMatchObject({ name: 'StoreDamaged', key: '/b' });
    const damaged: unknown[] = [];
    const { rows } = await store.list('/', { damaged: ({ key, revision }) => damaged.push([key, revision]) });
    expect(damaged).toEqual([['/b', 6]]);
    expect(rows.map(({ key, value }) => [key, value.toString()])).toEqual([
      ['/a', 'the second value of /a'],
      ['/c', 'the second value of /c'],
    ]);
    await store.close();
  });

  it('is not overwritten unless the caller requests it', async () => {
    const store = await openEmbeddedStore({ directory: await damagedStore(), clock });
    await expect(put(store, '/b', 'x')).rejects.toBeInstanceOf(StoreDamaged);
    await expect(store.commit([{ key: '/b', value: null, expect: 6 }])).rejects.toBeInstanceOf(StoreDamaged);
    const removed = await store.commit([{ key: '/b', value: null, expect: 6, evenIfDamaged: true }]);
    expect(removed).toBe(8);
    expect(Object.keys(await contents(store))).toEqual(['/a', '/c']);
    await put(store, '/b', 'a new value');
    await store.compact(store.revision());
    expect((await contents(store))['/b']).toBe('a new value');
    await store.close();
  });

  it('ends history: a watch or a list from before it is rejected, and one from after it is not', async () => {
    const path = await damagedStore();
    const store = await openEmbeddedStore({ directory: path, clock });
    const closed = new Promise((resolve) => store.watch(2, { changes: () => undefined, closed: resolve }));
    expect(await closed).toBeInstanceOf(StoreCompacted);
    await expect(store.list('/', { revision: 4 })).rejects.toBeInstanceOf(StoreCompacted);
    const watch = watching(store, store.revision());
    await put(store, '/d', '1');
    await watch.through(store.revision());
    await store.close();
  });

  it('is found when it is read, if it changes while the store is open', async () => {
    const path = directory();
    const store = await openEmbeddedStore({ directory: path, clock });
    await put(store, '/a', 'the only value of /a');
    await put(store, '/b', 'the only value of /b');
    await flip(path, 'the only value of /a');
    await expect(store.get('/a')).rejects.toMatchObject({ key: '/a' });
    const closed = new Promise((resolve) => store.watch(1, { changes: () => undefined, closed: resolve }));
    expect(await closed).toBeInstanceOf(StoreDamaged);
    expect((await store.get('/b'))?.value.toString()).toBe('the only value of /b');
    await store.close();
  });

  it('is found by a check of the directory, in use or not, which changes nothing', async () => {
    const path = await damagedStore();
    const found = { revision: 7, keys: 3, damaged: [{ key: '/b', revision: 6 }] };
    expect(await checkStore(path)).toEqual(found);
    const store = await openEmbeddedStore({ directory: path, clock });
    expect(await checkStore(path)).toEqual(found);
    await put(store, '/d', '1');
    expect(await checkStore(path)).toEqual({ ...found, revision: 8, keys: 4 });
    await store.close();
  });

  it('is removed by a delete on request, with all other damaged ones', async () => {
    const path = await damagedStore();
    await flip(path, 'the first value of /b');
    await flip(path, 'the first value of /a');
    expect((await checkStore(path)).damaged).toHaveLength(3);
    expect(await deleteDamaged(path)).toEqual(['/b']);
    expect(await checkStore(path)).toEqual({ revision: 8, keys: 2, damaged: [] });
    const store = await openEmbeddedStore({ directory: path, clock });
    expect(Object.keys(await contents(store))).toEqual(['/a', '/c']);
    await store.close();
  });

  it('is neither copied into a snapshot nor visited', async () => {
    const path = await damagedStore();
    await expect(copyStore(path, directory())).rejects.toMatchObject({ key: '/b' });
    await expect(visitValues(path, () => undefined)).rejects.toBeInstanceOf(StoreDamaged);
  });
});

describe('a check of a store that another process writes to', () => {
  it('finds nothing, and does not disturb the writer', async () => {
    const path = directory();
    const other = await otherProcess(path);
    const revisions: number[] = [];
    for (let i = 0; i < 10; i++) {
      const { revision, damaged } = await checkStore(path);
      expect(damaged).toEqual([]);
      revisions.push(revision);
    }
    expect(revisions.at(-1)).toBeGreaterThan(revisions[0] as number);
    await other.kill('SIGKILL');
    const store = await openEmbeddedStore({ directory: path, clock });
    expect(store.revision()).toBeGreaterThanOrEqual(revisions.at(-1) as number);
    await store.close();
  });
});

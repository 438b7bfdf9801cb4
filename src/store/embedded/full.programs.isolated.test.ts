import { execFileSync } from 'node:child_process';
import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { contents, put, watching } from '../../../test/support/store/contract.ts';
import { mountSmallDisk, scratchDirectories } from '../../../test/support/store-directories.ts';
import { systemClock } from '../../base/time/clock.ts';
import { StoreFull } from '../store.ts';
import { Database } from './database.ts';
import { openEmbeddedStore } from './open.ts';

const directory = await scratchDirectories();
const disk = directory();
const mounted = mountSmallDisk(disk);

describe('a full disk', () => {
  it.skipIf(!mounted)('rejects writes, loses nothing, and accepts writes when there is space again', async () => {
    const path = join(disk, 'store');
    const store = await openEmbeddedStore({ directory: path, clock: systemClock });
    const watch = watching(store, store.revision());
    const expected: Record<string, string> = {};
    const write = (key: string) =>
      put(store, key, key.repeat(500)).then(() => {
        expected[key] = key.repeat(500);
      });
    const fill = async (name: string) => {
      for (let i = 0; ; i++) {
        const results = await Promise.allSettled(Array.from({ length: 20 }, (_, n) => write(`/${name}${i}-${n}`)));
        const failed = results.filter((result) => result.status === 'rejected');
        for (const { reason } of failed) expect(reason).toBeInstanceOf(StoreFull);
        if (failed.length > 0) return;
      }
    };

    await fill('a');
    const revision = store.revision();
    expect(await contents(store)).toEqual(expected);
    await watch.through(revision);
    expect(watch.changes).toHaveLength(Object.keys(expected).length);
    // Commits that were based on the failed write are dropped.
    const [key] = Object.keys(expected);
    await expect(put(store, '/large', 'x'.repeat(4_000_000))).rejects.toBeInstanceOf(StoreFull);
    expect(await store.get('/large')).toBeUndefined();
    expect(await store.get(key as string)).toBeDefined();

    execFileSync('mount', ['-o', 'remount,size=16m', disk]);
    expect(await put(store, '/large', 'x'.repeat(4_000_000))).toBeGreaterThan(revision);
    expected['/large'] = 'x'.repeat(4_000_000);
    await fill('b');
    expect(await contents(store)).toEqual(expected);
    await store.close();

    const again = await openEmbeddedStore({ directory: path, clock: systemClock });
    expect(await contents(again)).toEqual(expected);
    // A deletion needs little space, and frees more.
    await again.commit([{ key: '/large', value: null }]);
    await again.compact(again.revision());
    for (let i = 0; i < 50; i++) await put(again, `/c${i}`, 'x'.repeat(2000));
    await again.close();
  });

  it.skipIf(!mounted)('rejects a new store', async () => {
    await rm(join(disk, 'store'), { recursive: true });
    const filler = join(disk, 'filler');
    await expect(writeFile(filler, Buffer.alloc(32 * 2 ** 20))).rejects.toMatchObject({ code: 'ENOSPC' });
    expect((await stat(filler)).size).toBeGreaterThan(0);
    const rejected = openEmbeddedStore({ directory: join(disk, 'new'), clock: systemClock });
    await expect(rejected).rejects.toBeInstanceOf(StoreFull);
    await rm(filler);
    await (await openEmbeddedStore({ directory: join(disk, 'new'), clock: systemClock })).close();
  });
});

describe('a disk that fills up during a flush', () => {
  it.skipIf(!mounted)('fails only that flush', async () => {
    const unheard: unknown[] = [];
    const hear = (reason: unknown) => unheard.push(reason);
    process.on('unhandledRejection', hear);
    const database = new Database(join(disk, 'bare.mdb'), 2 ** 30);
    const write = (revision: number) =>
      database.write({
        removedRecords: [],
        removedEntries: [],
        records: [{ position: { revision, index: 0 }, bytes: Buffer.alloc(1_000_000) }],
        entries: [],
        state: { revision, compacted: 0, historyBytes: 0 },
      });
    const fill = async () => {
      for (let revision = 2; ; revision++) await write(revision);
    };
    await expect(fill()).rejects.toBeInstanceOf(Error);
    await turns(2);
    process.off('unhandledRejection', hear);
    expect(unheard).toEqual([]);
    await database.close();
    await rm(join(disk, 'bare.mdb'));
  });
});

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await setImmediate();
}

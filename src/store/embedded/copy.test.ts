import { cp, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { contents, put, watching } from '../../../test/support/store/contract.ts';
import { scratchDirectories } from '../../../test/support/store-directories.ts';
import { systemClock } from '../../base/time/clock.ts';
import type { Store } from '../store.ts';
import { readMeta } from './data-file/meta.ts';
import { StoreTorn } from './errors.ts';
import { openEmbeddedStore } from './open.ts';

const directory = await scratchDirectories();
const clock = systemClock;

describe('a copy of an open directory', () => {
  it('opens while the original is open, if nothing was written meanwhile', async () => {
    const path = directory();
    const original = await openEmbeddedStore({ directory: path, clock });
    await fill(original, 300);
    const target = directory();
    await cp(path, target, { recursive: true });
    const copy = await openEmbeddedStore({ directory: target, clock });
    expect(await contents(copy)).toEqual(await contents(original));
    expect(copy.revision()).toBe(original.revision());
    const [mine, theirs] = [await put(copy, '/copy', '1'), await put(original, '/original', '1')];
    expect(mine).toBe(theirs);
    await copy.close();
    await original.close();
    expect((await readdir(target)).sort()).toEqual(['data.mdb', 'data.mdb-lock', 'format']);
  });

  it('opens as one state of the original, or is rejected', async () => {
    const path = directory();
    const original = await openEmbeddedStore({ directory: path, clock, historyBytes: 2 ** 20 });
    await fill(original, 1000);
    let writing = true;
    let round = 0;
    // Every commit keeps the pairs /a/N and /b/N equal, so a torn one would show.
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      while (writing) {
        const value = Buffer.alloc(500 + 400 * (round++ % 9), `${round} `);
        const n = (round * 7 + writer) % 200;
        await original.commit([
          { key: `/a/${n}`, value },
          { key: `/b/${n}`, value },
        ]);
      }
    });
    const outcomes = { whole: 0, torn: 0 };
    for (let i = 0; i < 15; i++) {
      const target = directory();
      await cp(path, target, { recursive: true, filter: (source) => !/lock\.\d/.test(source) });
      const copy = await openEmbeddedStore({ directory: target, clock }).catch((error) => error);
      if (copy instanceof Error) {
        expect(copy).toBeInstanceOf(StoreTorn);
        expect(copy.message).toContain('copied while it was written to');
        // The torn copy stays rejected.
        await expect(openEmbeddedStore({ directory: target, clock })).rejects.toBeInstanceOf(StoreTorn);
        outcomes.torn++;
        continue;
      }
      const state = await contents(copy);
      for (const [key, value] of Object.entries(state)) {
        if (key.startsWith('/a/')) expect(state[key.replace('/a/', '/b/')]).toBe(value);
      }
      outcomes.whole++;
      await copy.close();
    }
    writing = false;
    await Promise.all(writers);
    await original.close();
    expect(outcomes.whole + outcomes.torn).toBe(15);
  });

  it('is rejected for a page of a later transaction, and for a changed byte of a value', async () => {
    const path = directory();
    const original = await openEmbeddedStore({ directory: path, clock });
    await fill(original, 100);
    const damage = async (change: (bytes: Buffer, page: number) => boolean) => {
      const target = directory();
      await cp(path, target, { recursive: true });
      const file = await open(join(target, 'data.mdb'), 'r+');
      const { pageSize, lastPage } = readMeta(file.fd);
      for (let page = lastPage; page > 1; page--) {
        const bytes = Buffer.alloc(pageSize);
        await file.read(bytes, 0, pageSize, page * pageSize);
        if (change(bytes, page)) await file.write(bytes, 0, pageSize, page * pageSize);
      }
      await file.close();
      return openEmbeddedStore({ directory: target, clock });
    };
    await expect(damage(() => false).then((store) => store.close())).resolves.toBeUndefined();
    const later = damage((bytes, page) => {
      if (bytes.readUInt32LE(0) !== page || !bytes.includes('/k')) return false;
      bytes.writeUInt32LE(0xffff, 8);
      return true;
    });
    await expect(later).rejects.toBeInstanceOf(StoreTorn);
    const flipped = damage((bytes) => {
      const at = bytes.indexOf('yyyyyyyy');
      if (at < 0) return false;
      bytes.write('z', at);
      return true;
    });
    await expect(flipped).rejects.toBeInstanceOf(StoreTorn);
    await original.close();
  });

  it('is rejected when truncated, whether it was open or not', async () => {
    const path = directory();
    const original = await openEmbeddedStore({ directory: path, clock });
    await fill(original, 300);
    await original.close();
    const file = await open(join(path, 'data.mdb'), 'r+');
    const { size } = await file.stat();
    await file.truncate(Math.floor(size / 2));
    await file.close();
    await expect(openEmbeddedStore({ directory: path, clock })).rejects.toBeInstanceOf(StoreTorn);
  });

  it('is consistent and can be opened when backup() made it during writes', async () => {
    const store = await openEmbeddedStore({ directory: directory(), clock });
    await fill(store, 300);
    let writing = true;
    const writer = (async () => {
      for (let i = 0; writing; i++) {
        await store.commit([
          { key: '/a', value: Buffer.from(`${i}`) },
          { key: '/b', value: Buffer.from(`${i}`) },
        ]);
      }
    })();
    const target = directory();
    const before = store.revision();
    await store.backup(target);
    writing = false;
    await writer;
    const copy = await openEmbeddedStore({ directory: target, clock });
    const state = await contents(copy);
    expect(state['/a']).toBe(state['/b']);
    expect(copy.revision()).toBeGreaterThanOrEqual(before);
    const watch = watching(copy, 1);
    await watch.through(copy.revision());
    await expect(store.backup(target)).rejects.toThrow('is not empty');
    await copy.close();
    await store.close();
  });
});

/** Fills the store with values on leaf pages, on one overflow page, and on several. */
async function fill(store: Store, count: number): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, (_, i) =>
      put(store, `/k/${i}`, 'y'.repeat([100, 1500, 3000, 9000][i % 4] as number)),
    ),
  );
  await Promise.all(Array.from({ length: count / 2 }, (_, i) => put(store, `/k/${i}`, 'yyyyyyyy')));
  await Promise.all(Array.from({ length: count / 4 }, (_, i) => store.commit([{ key: `/k/${i}`, value: null }])));
}

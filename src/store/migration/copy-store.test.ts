import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { contents, put, watching } from '../../../test/support/store/contract.ts';
import { scratchDirectories } from '../../../test/support/store-directories.ts';
import { systemClock } from '../../base/time/clock.ts';
import type { StoreCopy } from '../driver.ts';
import { storeDriver } from '../drivers.ts';
import { MemoryStore } from '../memory/memory-store.ts';
import type { Store } from '../store.ts';
import { copyStore } from './copy-store.ts';

const scratch = await scratchDirectories();
const embedded = storeDriver('embedded');

async function target() {
  const directory = scratch();
  await mkdir(directory);
  return { settings: { storeDir: join(directory, 'copy') }, context: { directory, clock: systemClock } };
}

interface Copying {
  readonly pause?: () => Promise<void>;
  /** Changes what is copied. */
  readonly spoil?: (copy: StoreCopy) => StoreCopy;
  readonly signal?: AbortSignal;
}

async function copy(original: Store, { pause, spoil, signal }: Copying = {}) {
  const { settings, context } = await target();
  const copying = copyStore({
    original,
    begin: async (base) => {
      const copied = await embedded.beginCopy!(settings, context, base);
      return spoil ? spoil(copied) : copied;
    },
    pause: pause ?? (async () => undefined),
    clock: systemClock,
    signal: signal ?? new AbortController().signal,
  });
  return { copying, open: () => embedded.open(settings, context) };
}

async function filled(): Promise<Store> {
  const original = new MemoryStore({ clock: systemClock });
  for (let i = 0; i < 50; i++) await put(original, `/a/${i % 20}`, `${i}`);
  await original.compact(20);
  return original;
}

describe('a store that is copied while it is written to', () => {
  test('is the same in the copy, with the changes since', async () => {
    const original = await filled();
    let isOver = false;
    let count = 0;
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let i = 0; i < 500 && !isOver; i++) {
        const key = `/b/${writer}/${i % 300}`;
        if (i % 7 === 6) await original.commit([{ key, value: null }]);
        else await put(original, key, `${count++}`);
        await new Promise(setImmediate);
      }
    });
    const pause = async () => {
      isOver = true;
      await Promise.all(writers);
    };
    const { copying } = await copy(original, { pause });
    const { store, revision } = await copying;
    expect(revision).toBe(await original.revision());
    expect(await contents(store)).toEqual(await contents(original));
    const [ours, theirs] = [watching(original, 20), watching(store, 20)];
    for (const watch of [ours, theirs]) await watch.through(revision);
    expect(JSON.stringify(theirs.changes)).toBe(JSON.stringify(ours.changes));
    expect(await put(store, '/b', 'next')).toBe(revision + 1);
    await store.close();
  });

  test('is not replaced by a copy that differs, be it in the bulk or in the last changes', async () => {
    for (const isLast of [false, true]) {
      const original = await filled();
      const before = await original.revision();
      const spoil = (copied: StoreCopy): StoreCopy => ({
        add: ({ revision, changes }) => {
          const wrong = isLast ? revision > before : revision === before;
          const value = Buffer.from('wrong');
          return copied.add({ revision, changes: wrong ? changes.map((each) => ({ ...each, value })) : changes });
        },
        flush: () => copied.flush(),
        complete: () => copied.complete(),
        abandon: () => copied.abandon(),
      });
      const pause = async () => void (await put(original, '/a/1', 'last'));
      const { copying, open } = await copy(original, { pause, spoil });
      await expect(copying).rejects.toThrow('differs from the original');
      await expect(open()).rejects.toThrow('incomplete copy');
    }
  });

  test('leaves nothing that could be opened when it is given up', async () => {
    const original = await filled();
    const stop = new AbortController();
    const pause = async () => stop.abort(new Error('given up'));
    const { copying, open } = await copy(original, { pause, signal: stop.signal });
    await expect(copying).rejects.toThrow('given up');
    await expect(open()).rejects.toThrow('incomplete copy');
  });
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { put } from '../../../test/support/store/contract.ts';
import { systemClock } from '../../base/time/clock.ts';
import { openEmbeddedStore } from './open.ts';
import { visitValues } from './values.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'values-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function valuesIn(): Promise<string[]> {
  const found: string[] = [];
  await visitValues(directory, ({ key, value, isNewest }) =>
    found.push(`${key}=${value}${isNewest ? '' : ' (history)'}`),
  );
  return found.sort();
}

it('visits current values and those in history, while another process has the store open', async () => {
  const store = await openEmbeddedStore({ directory, clock: systemClock });
  try {
    await put(store, '/a', 'one');
    await put(store, '/a', 'two');
    await put(store, '/b', 'gone');
    await store.commit([{ key: '/b', value: null }]);
    await store.commit([
      { key: '/c', value: Buffer.from('x') },
      { key: '/d', value: Buffer.from('y') },
    ]);
    expect(await valuesIn()).toEqual(['/a=one (history)', '/a=two', '/b=gone (history)', '/c=x', '/d=y']);
    await store.compact(store.revision());
    expect(await valuesIn()).toEqual(['/a=two', '/c=x', '/d=y']);
    await put(store, '/c', 'z');
    expect(await valuesIn()).toContain('/c=x (history)');
  } finally {
    await store.close();
  }
});

it('rejects a directory without a store', async () => {
  await expect(visitValues(directory, () => undefined)).rejects.toThrow('there is no store in');
});

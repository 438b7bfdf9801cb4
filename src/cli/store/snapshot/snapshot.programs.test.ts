import { copyFile, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { mountSmallDisk, scratchDirectories } from '../../../../test/support/store-directories.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { openEmbeddedStore } from '../../../store/embedded/open.ts';
import { restoreSnapshot, saveSnapshot } from './snapshot.ts';

const directory = await scratchDirectories();
const disk = directory();
const isMounted = mountSmallDisk(disk);
const FREE_BYTES = 8 * 2 ** 20;
const flagsOf = (dataDir: string) => ({ name: 'a', dataDir, force: undefined }) as const;
vi.spyOn(process.stdout, 'write').mockReturnValue(true);

/** A data directory with some objects. */
async function cluster(): Promise<string> {
  const path = directory();
  await mkdir(path);
  const store = await openEmbeddedStore({ directory: join(path, 'store'), clock: systemClock });
  for (let i = 0; i < 50; i++) await store.commit([{ key: `/k${i}`, value: Buffer.alloc(4_000, 'x') }]);
  await store.close();
  return path;
}

describe.skipIf(!isMounted)('a disk without room', () => {
  it('for a snapshot has no part of one', async () => {
    const source = await cluster();
    const saved = directory();
    await saveSnapshot(saved, flagsOf(source));
    // There is room for the copy of the store, and not for the file.
    await writeFile(join(disk, 'filler'), Buffer.alloc(FREE_BYTES - Math.round((await stat(saved)).size * 1.5)));
    await expect(saveSnapshot(join(disk, 'a.snapshot'), flagsOf(source))).rejects.toThrow('space');
    expect(await readdir(disk)).toEqual(['filler']);
    await rm(join(disk, 'filler'));
  });

  it('for the objects of a snapshot has the directory as it was', async () => {
    const saved = directory();
    await saveSnapshot(saved, flagsOf(await cluster()));
    await copyFile(saved, join(disk, 'kept'));
    await writeFile(join(disk, 'filler'), Buffer.alloc(FREE_BYTES - Math.round((await stat(saved)).size * 1.5)));
    await expect(restoreSnapshot(saved, flagsOf(disk))).rejects.toThrow('space');
    expect(await readdir(disk)).toEqual(['kept', 'filler'].sort());
  });
});

import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { contents, put } from '../../../test/support/store/contract.ts';
import { otherProcess, scratchDirectories } from '../../../test/support/store-directories.ts';
import { systemClock } from '../../base/time/clock.ts';
import { StoreUnavailable } from '../store.ts';
import { StoreLocked } from './errors.ts';
import { openEmbeddedStore } from './open.ts';

const directory = await scratchDirectories();
const clock = systemClock;

describe('the directory of a store', () => {
  it('is readable only by its owner, like its files', async () => {
    const path = join(directory(), 'deep', 'er');
    const store = await openEmbeddedStore({ directory: path, clock });
    await put(store, '/a', '1');
    expect((await stat(path)).mode & 0o777).toBe(0o700);
    for (const name of await readdir(path)) expect((await stat(join(path, name))).mode & 0o777).toBe(0o600);
    await store.close();
    expect((await readdir(path)).sort()).toEqual(['data.mdb', 'data.mdb-lock', 'format']);
  });

  it('is rejected when it was written by a newer release', async () => {
    const path = directory();
    await mkdir(path);
    await writeFile(join(path, 'format'), '7\n');
    await expect(openEmbeddedStore({ directory: path, clock })).rejects.toMatchObject({
      name: 'StoreFormat',
      message: `${path} was written by a newer release (format 7; this release reads 1)`,
    });
  });

  it('is rejected when it is not the directory of a store', async () => {
    const path = directory();
    await mkdir(path);
    await writeFile(join(path, 'format'), 'PNG');
    await expect(openEmbeddedStore({ directory: path, clock })).rejects.toMatchObject({ name: 'StoreFormat' });
    await writeFile(join(path, 'format'), '1');
    await writeFile(join(path, 'data.mdb'), Buffer.alloc(10_000, 'some other data'));
    await expect(openEmbeddedStore({ directory: path, clock })).rejects.toMatchObject({
      name: 'StoreFormat',
      message: expect.stringContaining('data.mdb is not the data file of a store'),
    });
    await rm(join(path, 'format'));
    await expect(openEmbeddedStore({ directory: path, clock })).rejects.toMatchObject({ name: 'StoreFormat' });
    await expect(openEmbeddedStore({ directory: join(path, 'data.mdb'), clock })).rejects.toMatchObject({
      name: 'StoreDenied',
      message: expect.stringContaining('is not a directory'),
    });
  });

  it.skipIf(process.getuid?.() !== 0)('is rejected with one sentence without permission', async () => {
    const path = directory();
    await mkdir(path, { mode: 0o700 });
    await chmod(join(path, '..'), 0o755);
    process.seteuid?.(65_534);
    try {
      await expect(openEmbeddedStore({ directory: path, clock })).rejects.toMatchObject({
        name: 'StoreDenied',
        message: expect.stringMatching(/^no permission to write to .*\/format$/),
      });
    } finally {
      process.seteuid?.(0);
    }
  });
});

describe('the lock of a directory', () => {
  it('excludes the same process', async () => {
    const path = directory();
    const store = await openEmbeddedStore({ directory: path, clock });
    const error = await openEmbeddedStore({ directory: path, clock }).catch((e) => e);
    expect(error).toBeInstanceOf(StoreLocked);
    expect(error.pid).toBe(process.pid);
    expect(error.message).toBe(`${path} is in use by process ${process.pid}`);
    await put(store, '/a', '1');
    await store.close();
    const again = await openEmbeddedStore({ directory: path, clock });
    expect(await contents(again)).toEqual({ '/a': '1' });
    await again.close();
  });

  it('excludes another process exactly as long as it lives', async () => {
    const path = directory();
    const other = await otherProcess(path);
    await expect(openEmbeddedStore({ directory: path, clock })).rejects.toMatchObject({
      name: 'StoreLocked',
      pid: other.pid,
    });
    await other.kill('SIGKILL');
    const store = await openEmbeddedStore({ directory: path, clock });
    expect(store.revision()).toBeGreaterThan(100);
    await put(store, '/mine', '1');
    await store.close();
  });

  it('ignores a process that reused the id of an ended one', async () => {
    const path = directory();
    const store = await openEmbeddedStore({ directory: path, clock });
    const lock = JSON.parse(await readFile(join(path, 'lock'), 'utf8'));
    await store.close();
    for (const change of [{ started: '1' }, { boot: 'another' }, { pid: 2 ** 22 + 1 }]) {
      await writeFile(join(path, 'lock'), JSON.stringify({ ...lock, ...change }));
      const again = await openEmbeddedStore({ directory: path, clock });
      expect(JSON.parse(await readFile(join(path, 'lock'), 'utf8'))).toEqual(lock);
      await again.close();
    }
    await writeFile(join(path, 'lock'), '');
    const again = await openEmbeddedStore({ directory: path, clock });
    expect(JSON.parse(await readFile(join(path, 'lock'), 'utf8'))).toEqual(lock);
    await again.close();
  });

  it('admits one of many processes', async () => {
    const path = directory();
    await (await openEmbeddedStore({ directory: path, clock })).close();
    await writeFile(join(path, 'lock'), JSON.stringify({ pid: 1, boot: 'another', started: '1', file: 'other' }));
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, () => openEmbeddedStore({ directory: path, clock })),
    );
    const opened = results.filter((result) => result.status === 'fulfilled');
    expect(opened).toHaveLength(1);
    for (const { value } of opened) await value.close();
    expect((await readdir(path)).sort()).toEqual(['data.mdb', 'data.mdb-lock', 'format']);
  });

  it('does not let two programs write when it was removed', async () => {
    const path = directory();
    const other = await otherProcess(path);
    await rm(join(path, 'lock'));
    const store = await openEmbeddedStore({ directory: path, clock });
    const revision = await put(store, '/mine', '1');
    await other.ended;
    expect(store.revision()).toBe(revision);
    expect((await store.get('/mine'))?.revision).toBe(revision);
    expect(await put(store, '/mine', '2')).toBe(revision + 1);
    await store.close();
  });

  it('protects the store from writes after another process has claimed it', async () => {
    const path = directory();
    const first = await openEmbeddedStore({ directory: path, clock });
    await put(first, '/a', '1');
    await rm(join(path, 'lock'));
    const other = await otherProcess(path);
    await expect(put(first, '/a', '2')).rejects.toThrow('another process has written to this store');
    await expect(put(first, '/a', '3')).rejects.toBeInstanceOf(StoreUnavailable);
    await other.kill('SIGKILL');
    await first.close();
    const again = await openEmbeddedStore({ directory: path, clock });
    expect((await contents(again))['/a']).toBe('1');
    await again.close();
  });
});

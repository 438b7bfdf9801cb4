import { chmod, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { silent } from '../../base/log.ts';
import type { ProcessLock } from '../../base/process-lock.ts';
import type { HistoryOptions } from '../history-options.ts';
import { StoreFull } from '../store.ts';
import { checkFile, checkRecords } from './copy-check.ts';
import { Database } from './database.ts';
import { EmbeddedStore } from './embedded-store.ts';
import { StoreDenied, StoreFormat } from './errors.ts';
import { FORMAT } from './layout.ts';
import { COPIED, takeLock } from './lock.ts';
import { isFull, Reserve } from './reserve.ts';

export interface EmbeddedStoreOptions extends HistoryOptions {
  /** Created when missing. The store keeps `format`, `lock`, `data.mdb` and `data.mdb-lock` in it. */
  readonly directory: string;
  /** Address space, in bytes, that is reserved for the file. LMDB maps a file that outgrows it again. */
  readonly mapSize?: number;
}

/** Rejects with StoreLocked, StoreFormat, StoreTorn, StoreDenied or StoreFull. */
export async function openEmbeddedStore(options: EmbeddedStoreOptions): Promise<EmbeddedStore> {
  try {
    return await openDirectory(options);
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
      throw new StoreDenied(`no permission to write to ${path ?? options.directory}`, { cause: error });
    }
    if (code === 'ENOTDIR' || code === 'EEXIST') {
      throw new StoreDenied(`${options.directory} is not a directory`, { cause: error });
    }
    if (isFull(error)) throw new StoreFull(`the disk of ${options.directory} is full`, { cause: error });
    throw error;
  }
}

export const MAP_BYTES = 16 * 2 ** 30;
const PAGES_TO_OPEN = 32;

async function openDirectory(options: EmbeddedStoreOptions): Promise<EmbeddedStore> {
  const { directory, mapSize = MAP_BYTES, log = silent } = options;
  const file = join(directory, 'data.mdb');
  await makeDirectory(directory);
  await checkFormat(directory, file);
  const reserve = await Reserve.open(file, options.clock);
  let lock: ProcessLock | undefined;
  let database: Database | undefined;
  try {
    lock = await takeLock(directory, file);
    const copied = await exists(join(directory, COPIED));
    await checkFile(directory, file, copied);
    await reserve.take(PAGES_TO_OPEN);
    database = new Database(file, mapSize);
    if (copied) {
      checkRecords(directory, database);
      await rm(join(directory, COPIED));
      log.warn('the directory was copied while it was in use; the copy is consistent', { directory });
    }
    await syncDirectory(directory);
    return new EmbeddedStore({
      database,
      reserve,
      history: options,
      backup: (target) => backup(database as Database, target),
      release: lock.release,
    });
  } catch (error) {
    await database?.close();
    await lock?.release();
    await reserve.close();
    throw error;
  }
}

async function makeDirectory(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  await chmod(directory, 0o700);
  await syncDirectory(dirname(first));
}

/** The format file is written before the data: data without it is not used. */
async function checkFormat(directory: string, file: string): Promise<void> {
  const path = join(directory, 'format');
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  if (text === undefined) {
    if (await exists(file)) throw new StoreFormat(`${directory} has a data.mdb but no file "format"`);
    await writeFormat(directory);
    return;
  }
  const format = Number(text);
  if (!Number.isInteger(format)) throw new StoreFormat(`${path} is not the format file of a store`);
  if (format > FORMAT) {
    throw new StoreFormat(
      `${directory} was written by a newer release (format ${format}; this release reads ${FORMAT})`,
    );
  }
}

export async function writeFormat(directory: string): Promise<void> {
  const path = join(directory, 'format');
  await writeFile(`${path}.new`, `${FORMAT}\n`, { mode: 0o600, flush: true });
  await rename(`${path}.new`, path);
}

/** Makes new names in a directory durable. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Writes the format file last, so that an incomplete copy is not taken for a store. */
async function backup(database: Database, directory: string): Promise<void> {
  await makeDirectory(directory);
  if ((await readdir(directory)).length > 0) throw new StoreDenied(`${directory} is not empty`);
  const path = join(directory, 'data.mdb');
  await database.copyTo(path);
  const file = await open(path, 'r+');
  try {
    await file.chmod(0o600);
    await file.sync();
  } finally {
    await file.close();
  }
  await writeFormat(directory);
  await syncDirectory(directory);
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

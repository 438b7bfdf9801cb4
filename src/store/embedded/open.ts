import { chmod, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ifMissing } from '../../base/files/if-missing.ts';
import { syncDirectory } from '../../base/files/own/files.ts';
import { makeDirectories } from '../../base/files/own/make-directories.ts';
import { silent } from '../../base/log.ts';
import { LockHeld, type ProcessLock, takeProcessLock } from '../../base/programs/process-lock.ts';
import type { HistoryOptions } from '../history-options.ts';
import { StoreFull } from '../store.ts';
import { isFull, Reserve } from './commit/reserve.ts';
import { checkDataFile } from './data-file/check.ts';
import type { Contents, DamagedRecord } from './data-file/contents.ts';
import { Database } from './database.ts';
import { EmbeddedStore } from './embedded-store.ts';
import { StoreDenied, StoreFormat, StoreLocked, StoreTorn } from './errors.ts';
import { FORMAT } from './layout.ts';
import { readStore } from './read-only.ts';

export interface EmbeddedStoreOptions extends HistoryOptions {
  /** The directory, created when missing. It contains `format`, `lock`, `data.mdb` and `data.mdb-lock`. */
  readonly directory: string;
  /** Address space to reserve for the file, in bytes. LMDB maps a file again when it outgrows it. */
  readonly mapSize?: number;
  /** Opens a copy in the making. */
  readonly isCopy?: boolean;
}

/** Opens a store. Rejects with StoreLocked, StoreFormat, StoreTorn, StoreDenied or StoreFull. */
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
  const { directory, mapSize = MAP_BYTES, log = silent, isCopy = false } = options;
  const file = join(directory, 'data.mdb');
  await makeDirectory(directory);
  const isNew = await checkFormat(directory, file, isCopy);
  const reserve = await Reserve.open(file, options.clock);
  let lock: ProcessLock | undefined;
  let database: Database | undefined;
  try {
    lock = await takeLock(directory, file);
    const copied = await exists(join(directory, COPIED));
    const contents = await checkData(directory, file, copied);
    for (const { key, revision } of contents?.damaged ?? []) {
      if (key === undefined) log.warn('history is damaged and discarded', { revision, file });
      else log.error('a stored value is damaged and cannot be read', { key, revision, file });
    }
    await reserve.take(PAGES_TO_OPEN);
    database = new Database(file, mapSize);
    if (copied) {
      await rm(join(directory, COPIED));
      log.warn('the directory was copied while it was in use; the copy is consistent', { directory });
    }
    if (isNew) await writeFormat(directory);
    await syncDirectory(directory);
    return new EmbeddedStore({
      database,
      reserve,
      history: options,
      historyFloor: contents && contents.damaged.length > 0 ? contents.state.revision : 0,
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
  const first = await makeDirectories(directory, 0o700);
  if (first === undefined) return;
  await chmod(directory, 0o700);
  await syncDirectory(dirname(first));
}

/** Checks the data before LMDB follows its pointers. Returns undefined when there is none yet. */
async function checkData(directory: string, file: string, copied: boolean): Promise<Contents | undefined> {
  if ((await stat(file)).size === 0) return undefined;
  try {
    const contents = await checkDataFile(file).catch((error) => checkInUse(directory, error));
    const [first] = contents.damaged;
    if (copied && first) throw new StoreTorn(`${file} is damaged: ${describe(first)}`);
    return contents;
  } catch (cause) {
    if (!copied || !(cause instanceof StoreTorn)) throw cause;
    throw new StoreTorn(`${file} is not consistent: it was copied while it was written to`, { cause });
  }
}

/** Checks a file that an invisible process, for example in another container, may be writing to. */
function checkInUse(directory: string, error: unknown): Promise<Contents> {
  if (!(error instanceof StoreTorn)) throw error;
  return readStore(directory, ({ contents }) => contents);
}

function describe({ key, revision }: DamagedRecord): string {
  return `the value ${key === undefined ? '' : `of ${key} `}at revision ${revision} has another checksum`;
}

const UNFINISHED = 'new';
/** The state of a copy in the making, which is no store. */
const COPYING = 'copying';

/**
 * Checks the format file, which is written before the data: data without it is not used. Until there is data, the
 * format file says so: later, missing or empty data means that it was lost. Returns whether the directory is new.
 */
async function checkFormat(directory: string, file: string, isCopy: boolean): Promise<boolean> {
  const path = join(directory, 'format');
  const text = await readFile(path, 'utf8').catch(ifMissing);
  const bytes = await sizeOf(file);
  if (text === undefined) {
    if (bytes !== undefined) throw new StoreFormat(`${directory} has a data.mdb but no file "format"`);
    await writeFormat(directory, UNFINISHED);
    return true;
  }
  const [, number, state] = /^(\d+)(?: (\w+))?\s*$/.exec(text) ?? [];
  if (number === undefined) throw new StoreFormat(`${path} is not the format file of a store`);
  if (Number(number) > FORMAT) {
    throw new StoreFormat(
      `${directory} was written by a newer release (format ${number}; this release reads ${FORMAT})`,
    );
  }
  if (state === UNFINISHED) return true;
  if (state === COPYING && !isCopy) {
    throw new StoreFormat(
      `${directory} has an incomplete copy of a cluster: qd store migrate was interrupted, and replaces it when it runs again`,
    );
  }
  if (!bytes)
    throw new StoreTorn(`${file} is ${bytes === undefined ? 'missing' : 'empty'}: the data of the store is lost`);
  return false;
}

/** Reports whether a directory has a copy that was begun and not completed. */
export async function isIncompleteCopy(directory: string): Promise<boolean> {
  const text = await readFile(join(directory, 'format'), 'utf8').catch(ifMissing);
  return text?.trim().endsWith(` ${COPYING}`) ?? false;
}

export async function writeFormat(directory: string, state?: typeof UNFINISHED | typeof COPYING): Promise<void> {
  const path = join(directory, 'format');
  await writeFile(`${path}.new`, `${FORMAT}${state ? ` ${state}` : ''}\n`, { mode: 0o600, flush: true });
  await rename(`${path}.new`, path);
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
  return (await sizeOf(path)) !== undefined;
}

/** Returns the size of a file; undefined when there is none. */
const sizeOf = async (path: string) => (await stat(path).catch(ifMissing))?.size;

/** A file that marks a directory copied together with its lock, until the copy has been checked. */
const COPIED = 'copied';

/**
 * Takes the lock of a directory, or rejects with StoreLocked. Processes that cannot see each other, as in two
 * containers, are excluded by the generation in the database (database.ts): after the second one opens it, the first
 * cannot write.
 */
async function takeLock(directory: string, dataFile: string): Promise<ProcessLock> {
  try {
    return await takeProcessLock({
      path: join(directory, 'lock'),
      subject: dataFile,
      onCopy: () => writeFile(join(directory, COPIED), '', { mode: 0o600, flush: true }),
    });
  } catch (error) {
    if (error instanceof LockHeld) throw new StoreLocked(directory, error.pid);
    throw error;
  }
}

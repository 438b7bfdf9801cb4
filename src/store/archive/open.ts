import { chmod, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ifMissing } from '../../base/files/if-missing.ts';
import { syncDirectory, writeWhole } from '../../base/files/own/files.ts';
import { makeDirectories } from '../../base/files/own/make-directories.ts';
import { moveAside } from '../../base/files/own/move-aside.ts';
import type { Logger } from '../../base/log.ts';
import type { Clock } from '../../base/time/clock.ts';
import { Reserve } from '../embedded/commit/reserve.ts';
import { StoreFormat, StoreTorn } from '../embedded/errors.ts';
import { type Store, StoreDamaged } from '../store.ts';
import type { Moment, RewritableArchive } from './archive.ts';
import { checkArchiveFile } from './check.ts';
import { ArchiveDatabase } from './database.ts';
import { ARCHIVE_FORMAT, MAX_KEY_BYTES } from './layout.ts';
import { LmdbArchive } from './lmdb-archive.ts';

export interface ArchiveOptions {
  /** The directory, created when missing. */
  readonly directory: string;
  readonly store: Pick<Store, 'revision' | 'list' | 'watch'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Age at which changes are deleted. */
  readonly milliseconds: number;
  /** Size at which the oldest changes are deleted. */
  readonly bytes: number;
  /** What a new archive begins with, while the store still has it; undefined: the newest revision. */
  readonly begin?: Moment | undefined;
  /** Only keys with this prefix are recorded. */
  readonly prefix: string;
  /** Keys with these prefixes are not recorded. */
  readonly except: readonly string[];
}

export const ARCHIVE_FILE = 'data.mdb';

const PAGES_TO_OPEN = 32;

/** Opens the archive of a store, which it follows from now on. One that is damaged is moved aside, and a new one begins. */
export async function openArchive(options: ArchiveOptions): Promise<RewritableArchive> {
  const { directory, log, clock } = options;
  try {
    return await openIn(options);
  } catch (error) {
    if (!(error instanceof StoreDamaged || error instanceof StoreTorn || error instanceof OtherStore)) throw error;
    const aside = await moveAside(directory, clock);
    const message =
      error instanceof OtherStore
        ? 'history belongs to a later state of the store; it is kept aside, and begins again'
        : 'history is damaged; it is kept aside, and begins again';
    log.error(message, { error, kept: aside });
    return openIn(options);
  }
}

/** An archive that is ahead of its store, which an older copy has replaced. */
class OtherStore extends Error {
  override readonly name = 'OtherStore';
}

async function openIn(options: ArchiveOptions): Promise<RewritableArchive> {
  const { directory, store, clock, log } = options;
  const path = join(directory, ARCHIVE_FILE);
  await makeDirectories(directory, 0o700);
  await chmod(directory, 0o700);
  await checkFormat(directory);
  await check(directory, path);
  const reserve = await Reserve.open(path, clock);
  let database: ArchiveDatabase | undefined;
  try {
    await reserve.take(PAGES_TO_OPEN);
    database = new ArchiveDatabase(path);
    const { position } = database.state;
    const revision = await store.revision();
    if (revision < position) {
      throw new OtherStore(`the archive is at revision ${position}, and the store at ${revision}`);
    }
    const archive = new LmdbArchive({
      ...options,
      database,
      reserve,
      covers: coverage(options),
      closed: () => markClean(directory, path, log),
    });
    archive.start();
    return archive;
  } catch (error) {
    await database?.close();
    await reserve.close();
    throw error;
  }
}

function coverage({ prefix, except }: ArchiveOptions): (key: string) => boolean {
  return (key) => {
    if (!key.startsWith(prefix) || except.some((each) => key.startsWith(each))) return false;
    // A UTF-16 unit is at most three bytes of UTF-8, so most keys need not be counted.
    return !key.includes('\0') && (key.length * 3 <= MAX_KEY_BYTES || Buffer.byteLength(key) <= MAX_KEY_BYTES);
  };
}

async function checkFormat(directory: string): Promise<void> {
  const path = join(directory, 'format');
  const text = await readFile(path, 'utf8').catch(ifMissing);
  if (text === undefined) {
    await writeWhole(path, `${ARCHIVE_FORMAT}\n`);
    await syncDirectory(directory);
    return;
  }
  const format = Number(text.trim());
  if (!Number.isInteger(format)) throw new StoreDamaged(`${path} is not the format file of an archive`);
  if (format > ARCHIVE_FORMAT) {
    throw new StoreFormat(
      `${directory} was written by a newer release (format ${format}; this release reads ${ARCHIVE_FORMAT})`,
    );
  }
}

/** Written after the archive was closed, with the size and the time of its file. */
const CLEAN = 'clean';

/** Checks the file before LMDB follows its pointers, unless it is as it was when it was closed. */
async function check(directory: string, path: string): Promise<void> {
  const mark = await readFile(join(directory, CLEAN), 'utf8').catch(ifMissing);
  const found = await identityOf(path);
  await rm(join(directory, CLEAN), { force: true });
  if (found !== undefined && found !== mark) await checkArchiveFile(path);
}

/** Without the mark, as on a full disk, the next start checks the file. */
async function markClean(directory: string, path: string, log: Logger): Promise<void> {
  try {
    const identity = await identityOf(path);
    if (identity !== undefined) await writeFile(join(directory, CLEAN), identity, { mode: 0o600 });
  } catch (error) {
    log.warn('history was not marked as complete, so the next start checks it', { error });
  }
}

async function identityOf(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(ifMissing);
  return found && found.size > 0 ? `${found.size} ${found.mtimeMs} ${found.ino}` : undefined;
}

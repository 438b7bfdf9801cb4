/** Takes a backup of a store, as a stream of bytes. */
import { type Clock, sleep } from '../../base/time/clock.ts';
import { ArchiveBegins } from '../../store/archive/archive.ts';
import { type DamagedRow, type Store, StoreCompacted } from '../../store/store.ts';
import type { BackupAbout, BackupEnd, HistoryRecord, SavedFiles, SavedMoment } from '../file/content.ts';
import { writeBackup } from '../file/write.ts';
import { historyBetween, oldestSince, type SavedArchive } from './history.ts';
import { paced } from './paced.ts';
import { rowsAt } from './rows.ts';

export interface TakeOptions {
  /** The store, with its values as at rest. */
  readonly store: Pick<Store, 'revision' | 'list'>;
  /** The history of the cluster; undefined: it has none, or it is left out. */
  readonly archive: SavedArchive | undefined;
  /** Every moment since this time can be restored from the backup, as far as there is history. */
  readonly since: number;
  readonly about: Omit<BackupAbout, 'revision' | 'time' | 'oldest'>;
  /** Called when the history cannot be read, and is left out. */
  withoutHistory(error: unknown): void;
  /** Reads the files of the data directory. */
  files(): Promise<SavedFiles>;
  readonly clock: Clock;
  /** Share of the thread that it may take: see `Pace`. */
  readonly share: number;
  readonly signal: AbortSignal;
}

/** A backup in the making. */
export interface Taking {
  readonly about: BackupAbout;
  readonly content: AsyncGenerator<Uint8Array, BackupEnd>;
}

/**
 * Begins a backup of the present state. The content rejects with StoreCompacted when the store discards that state before it was
 * read: then the caller begins anew.
 */
export async function takeBackup(options: TakeOptions): Promise<Taking> {
  const { store, archive, since, clock } = options;
  // The time first: what is written between the two is part of the backup, and of the history before the next one.
  const time = clock.now();
  const revision = await store.revision();
  // After the revision: a key that encrypts one of its rows is among them.
  const files = await options.files();
  const oldest = archive && (await historyOf(archive, { since, revision, options }));
  const about: BackupAbout = { ...options.about, revision, time, oldest };
  const damaged: DamagedRow[] = [];
  const content = writeBackup({
    about,
    files,
    history: archive && oldest ? paced(historyBetween(archive, oldest.revision, revision), options) : none(),
    rows: paced(rowsAt({ store, revision, damaged: (row) => damaged.push(row) }), options),
    damaged: () => damaged.map(({ key, revision: at }) => ({ key, revision: at })),
  });
  return { about, content };
}

/** How long a backup waits for changes that are not in the history yet. */
const MAX_HISTORY_WAIT_MS = 30_000;

interface Reaching {
  readonly since: number;
  readonly revision: number;
  readonly options: Pick<TakeOptions, 'clock' | 'signal' | 'withoutHistory'>;
}

/** Resolves with the oldest moment that the backup reaches back to; undefined when history cannot be read: objects matter more. */
async function historyOf(
  archive: SavedArchive,
  { since, revision, options }: Reaching,
): Promise<SavedMoment | undefined> {
  const { clock, signal, withoutHistory } = options;
  const waiting = new AbortController();
  const tooLong = sleep(clock, MAX_HISTORY_WAIT_MS, AbortSignal.any([signal, waiting.signal])).then(() => {
    throw new Error(`history has not reached revision ${revision} after ${MAX_HISTORY_WAIT_MS / 1_000} s`);
  });
  try {
    await Promise.race([archive.reached(revision), tooLong]);
    return oldestSince(archive, since);
  } catch (error) {
    signal.throwIfAborted();
    withoutHistory(error);
    return undefined;
  } finally {
    waiting.abort();
    tooLong.catch(() => undefined); // The wait has ended.
  }
}

async function* none(): AsyncGenerator<HistoryRecord> {}

/** Reports whether a backup failed because what it read was discarded meanwhile, so that another attempt may succeed. */
export function isOvertaken(error: unknown): boolean {
  const problem = (error as Error | undefined)?.cause ?? error;
  return [error, problem].some((each) => each instanceof StoreCompacted || each instanceof ArchiveBegins);
}

/** Opens the archive of a store, beside it in the data directory. */
import { join } from 'node:path';
import type { Logger } from '../../base/log.ts';
import { head } from '../../base/metrics/text.ts';
import type { Clock } from '../../base/time/clock.ts';
import { EPHEMERAL_PREFIXES, ROOT } from '../../server/objects/cache/keys.ts';
import type { Archive, Moment } from '../../store/archive/archive.ts';
import { LateArchive } from '../../store/archive/late-archive.ts';
import type { Store } from '../../store/store.ts';
import type { Cleanup } from '../cleanup.ts';

/** Limits of the history on disk. */
export interface ArchiveLimits {
  /** Age at which changes are deleted. */
  readonly milliseconds: number;
  /** Size at which the oldest changes are deleted. */
  readonly bytes: number;
}

export const archiveIn = (directory: string) => join(directory, 'history');

interface ArchiveContext {
  /** The store below the encryption, so that values in the archive are encrypted as in the store. */
  readonly store: Store;
  readonly directory: string;
  readonly limits: ArchiveLimits;
  readonly clock: Clock;
  readonly log: Logger;
  readonly cleanup: Cleanup;
}

/** An archive that is opened when `start` is called. */
export function archiveOf({ store, directory, limits, clock, log, cleanup }: ArchiveContext): LateArchive {
  // Without an answer, it begins with the newest revision.
  const began = momentOf(store, clock).catch(() => undefined);
  const archive = new LateArchive(async () => {
    const { openArchive } = await import('../../store/archive/open.ts');
    const options = { store, clock, log, ...limits, prefix: ROOT, except: EPHEMERAL_PREFIXES };
    // Whatever a new cluster writes is in its history.
    return openArchive({ directory: archiveIn(directory), begin: await began, ...options });
  });
  cleanup.add(() => archive.close());
  return archive;
}

async function momentOf(store: Pick<Store, 'revision'>, clock: Clock): Promise<Moment> {
  return { revision: await store.revision(), time: clock.now() };
}

/** Opens the archive in the background. A server does its work without one. */
export function startArchive(archive: LateArchive, log: Logger): void {
  archive.start().catch((error: unknown) => log.error('history cannot be opened, and is not recorded', { error }));
}

const BYTES = 'quarterdeck_history_bytes';
const OLDEST = 'quarterdeck_history_oldest_timestamp_seconds';
const LAG = 'quarterdeck_history_lag_revisions';

/** Size, age and lag of the archive. Nothing while it is not open. */
export class ArchiveMetrics {
  constructor(
    private readonly archive: Archive,
    private readonly store: Pick<Store, 'revision'>,
  ) {}

  *lines(): Generator<string> {
    const found = this.#read();
    if (!found) return;
    yield head(BYTES, 'gauge', 'Size of the history on disk, without free pages of its file.');
    yield `${BYTES} ${found.bytes}`;
    yield head(OLDEST, 'gauge', 'Time of the oldest state in history, in seconds since the epoch.');
    yield `${OLDEST} ${found.oldest.time / 1000}`;
    const revision = this.store.revision();
    // A store on a network would have to be asked.
    if (typeof revision !== 'number') return;
    yield head(LAG, 'gauge', 'Revisions of the store that are not in history yet.');
    yield `${LAG} ${Math.max(revision - found.newest.revision, 0)}`;
  }

  #read() {
    try {
      return { ...this.archive.bounds(), ...this.archive.sizes() };
    } catch {
      return undefined;
    }
  }
}

import type { Logger } from '../../base/log.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { ArchiveDatabase, RemovedVersion } from './database.ts';
import { originsBefore, THINNED_MS } from './pending.ts';
import { planTrim } from './trim.ts';

export interface RetentionOptions {
  readonly database: ArchiveDatabase;
  readonly clock: Clock;
  readonly log: Logger;
  /** Age at which changes are deleted. */
  readonly milliseconds: number;
  /** Size at which the oldest changes are deleted. */
  readonly bytes: number;
}

/** What a write deletes along with what it adds. */
export interface Expired {
  readonly removed: readonly RemovedVersion[];
  readonly oldest: number;
  readonly oldestTime: number;
  readonly originsBefore: number | undefined;
  /** True when there is more to delete. */
  readonly more: boolean;
}

/** Changes deleted with each write: more than a write adds, so that deleting catches up with writing. */
const DELETED_PER_WRITTEN = 2;
const MIN_DELETED = 128;

/** The newest changes stay, whatever their size: status changes may still replace each other. */
const MIN_MILLISECONDS = 2 * THINNED_MS;

const LOG_INTERVAL_MS = 3_600_000;

/** Decides which changes are deleted, by their age and by the size of the archive. */
export class Retention {
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: RetentionOptions) {}

  plan(written: number, revision = 0): Expired {
    const { database, clock, milliseconds, bytes } = this.options;
    const now = clock.now();
    const budget = Math.max(MIN_DELETED, written * DELETED_PER_WRITTEN);
    const excess = Math.max(database.bytes - bytes, 0);
    const goal = {
      time: now - Math.max(milliseconds, MIN_MILLISECONDS),
      youngest: now - MIN_MILLISECONDS,
      revision,
      excess,
    };
    const trim = planTrim(database, goal, budget);
    const { oldest, oldestTime, more } = trim;
    if (trim.isBySize) this.#logSize(oldestTime);
    const isOlder = originsBefore(oldest) > originsBefore(database.state.oldest);
    return {
      removed: trim.removed,
      oldest,
      oldestTime,
      more,
      originsBefore: isOlder ? originsBefore(oldest) : undefined,
    };
  }

  #logSize(oldestTime: number): void {
    const { clock, log, bytes } = this.options;
    const now = clock.now();
    if (now - this.#loggedAt < LOG_INTERVAL_MS) return;
    this.#loggedAt = now;
    log.warn('history is shorter than --history-duration, because it would be larger than --history-bytes', {
      oldest: new Date(oldestTime).toISOString(),
      bytes,
    });
  }
}

import type { Logger } from '../base/log.ts';
import type { Clock } from '../base/time/clock.ts';

/** Limits of a store's history. It is trimmed along with commits: an idle store has no timer. */
export interface HistoryOptions {
  readonly clock: Clock;
  /** Maximum age of changes; default: five minutes. */
  readonly historyMilliseconds?: number;
  /** Maximum size of replaced and deleted values, above which the oldest changes are discarded; default: 64 MiB. */
  readonly historyBytes?: number;
  readonly log?: Logger;
}

export const HISTORY_MILLISECONDS = 300_000;
export const HISTORY_BYTES = 64 * 2 ** 20;

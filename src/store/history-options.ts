import type { Logger } from '../base/log.ts';
import type { Clock } from '../base/time/clock.ts';

/** How much history a store keeps. It is trimmed along with commits: an idle store has no timer. */
export interface HistoryOptions {
  readonly clock: Clock;
  /** Changes older than this are discarded; default: five minutes. */
  readonly historyMilliseconds?: number;
  /** Maximum size of replaced and deleted values, above which the oldest changes are discarded; default: 64 MiB. */
  readonly historyBytes?: number;
  readonly log?: Logger;
}

export const HISTORY_MILLISECONDS = 300_000;
export const HISTORY_BYTES = 64 * 2 ** 20;

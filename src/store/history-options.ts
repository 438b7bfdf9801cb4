import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';

/** How long a store remembers what was. It forgets along with commits: an idle store has no timer. */
export interface HistoryOptions {
  readonly clock: Clock;
  /** Changes older than this are forgotten; default: five minutes. */
  readonly historyMilliseconds?: number;
  /** The most that replaced and deleted values may take before the oldest changes are forgotten; default: 64 MiB. */
  readonly historyBytes?: number;
  readonly log?: Logger;
}

export const HISTORY_MILLISECONDS = 300_000;
export const HISTORY_BYTES = 64 * 2 ** 20;

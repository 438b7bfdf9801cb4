/** Decides when the next backup is due. Pure: it is asked again after every backup, failure and start. */
import type { BackupKind } from './retention.ts';

export interface ScheduleState {
  /** Backups that exist, in any order: read from the target, so that a restart or another server goes on from them. */
  readonly backups: readonly { readonly time: number; readonly kind: BackupKind }[];
  /** Time at which this server began: it settles before its first backup. */
  readonly startedAt: number;
  /** Failed attempts since the last success. */
  readonly failures?: { readonly count: number; readonly last: number } | undefined;
}

export interface DueBackup {
  readonly kind: 'hourly' | 'daily';
  /** Time at which it is due; not after `now` when it is due already. */
  readonly at: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SETTLE_MS = 60_000;
const FIRST_RETRY_MS = 60_000;
const MAX_RETRY_MS = 30 * 60_000;
/** Times that are further ahead come from a clock that was wrong. */
const MAX_CLOCK_SKEW_MS = 5 * 60_000;

/**
 * Returns the next backup. One is due an hour after the newest one that the schedule made; it is the daily one when the newest daily one
 * is a day old. Missed ones are not made up for: after days without a server, one is due. Times in the future are ignored.
 */
export function nextBackup({ backups, startedAt, failures }: ScheduleState, now: number): DueBackup {
  const isPast = (time: number) => time <= now + MAX_CLOCK_SKEW_MS;
  const newest = (kinds: readonly BackupKind[]) =>
    backups.reduce(
      (latest, { time, kind }) => (kinds.includes(kind) && isPast(time) ? Math.max(latest, time) : latest),
      Number.NEGATIVE_INFINITY,
    );
  const earliest = [isPast(startedAt) ? startedAt + SETTLE_MS : now];
  if (failures && failures.count > 0 && isPast(failures.last))
    earliest.push(failures.last + retryDelay(failures.count));
  const at = Math.max(newest(['hourly', 'daily']) + HOUR_MS, ...earliest);
  return { kind: Math.max(at, now) >= newest(['daily']) + DAY_MS ? 'daily' : 'hourly', at };
}

function retryDelay(failures: number): number {
  return Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1));
}

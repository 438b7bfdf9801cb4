/** Decides when the next backup is due. Pure: it is asked again after every backup, failure and change of the clock. */
import type { BackupKind } from './retention.ts';

interface Backup {
  readonly time: number;
  readonly kind: BackupKind;
}

export interface ScheduleState {
  /** Time at which this server took charge of the schedule. It settles before its first backup. */
  readonly since: number;
  /** Backups that it found at that time, in any order. */
  readonly found: readonly Backup[];
  /** Backups that it took since, in order. */
  readonly taken: readonly Backup[];
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
 * Returns the next backup. One is due an hour after the newest one of the schedule; it is the daily one when the newest daily one is a
 * day old. Missed ones are not made up for: after days without a server, one is due. Times in the future are ignored; so are backups
 * found that are newer than what this server did first, when those times come, because a clock made them that was ahead.
 */
export function nextBackup({ since, found, taken, failures }: ScheduleState, now: number): DueBackup {
  const scheduled = taken.filter(({ kind }) => kind !== 'manual');
  const isBy = (time: number, limit: number) => time <= limit + MAX_CLOCK_SKEW_MS;
  const limit = Math.min(now, since, scheduled[0]?.time ?? now);
  const earlier = found.filter(({ kind, time }) => kind !== 'manual' && isBy(time, limit));
  const previous = scheduled.at(-1)?.time ?? newest(earlier);
  const daily = scheduled.findLast(({ kind }) => kind === 'daily')?.time ?? newest(earlier.filter(isDaily));

  const waits = [isBy(previous, now) ? previous + HOUR_MS : now];
  if (scheduled.length === 0) waits.push(isBy(since, now) ? since + SETTLE_MS : now);
  if (failures && isBy(failures.last, now)) waits.push(failures.last + retryDelay(failures.count));
  const at = Math.max(...waits);
  return { kind: isBy(daily, now) && Math.max(at, now) < daily + DAY_MS ? 'hourly' : 'daily', at };
}

const isDaily = ({ kind }: Backup) => kind === 'daily';

function newest(backups: readonly Backup[]): number {
  return backups.reduce((latest, { time }) => Math.max(latest, time), Number.NEGATIVE_INFINITY);
}

function retryDelay(failures: number): number {
  return Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1));
}

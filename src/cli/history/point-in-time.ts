/** Turns what a user calls a time into the parameter of a request. */

import { isApiError } from '../../api/errors.ts';
import { HISTORY_PATH } from '../../api/past.ts';
import { parseDuration } from '../../base/time/duration.ts';
import { CliError } from '../output/cli-error.ts';

/** Answer of the server at `/history`. */
export interface KnownHistory {
  readonly now: string;
  readonly oldest: { readonly time: string };
}

export type PointInTime = { readonly resourceVersion: string } | { readonly agoMs: number } | { readonly time: number };

const UNITS: Readonly<Record<string, string>> = { second: 's', sec: 's', minute: 'm', min: 'm', hour: 'h', day: 'd' };

/** Throws a CliError when the text is none. */
export function parsePointInTime(text: string): PointInTime {
  const trimmed = text.trim();
  if (/^[1-9]\d*$/.test(trimmed)) return { resourceVersion: trimmed };
  const words = trimmed.replace(/\s+ago$/, '');
  const short = words.replace(/(\d)\s*([a-z]+?)s?\b\s*/gi, (all, digit: string, unit: string) => {
    const known = UNITS[unit.toLowerCase()];
    return known ? `${digit}${known}` : all;
  });
  const agoMs = parseDuration(short.trim());
  if (agoMs !== undefined) return { agoMs };
  const time = /^\d{4}-\d\d-\d\d/.test(trimmed) ? Date.parse(trimmed) : Number.NaN;
  if (!Number.isNaN(time)) return { time };
  throw new CliError(`${text} is not a time: write 10 minutes ago, 90s, 2030-01-01T12:00:00Z, or a resourceVersion`);
}

/** Returns the moment as requests name it. Throws a CliError when it is in the future, or before the history. */
export function momentOf(point: PointInTime, { now, oldest }: KnownHistory): string {
  if ('resourceVersion' in point) return point.resourceVersion;
  const time = 'time' in point ? point.time : Date.parse(now) - point.agoMs;
  if (time > Date.parse(now)) throw new CliError(`${new Date(time).toISOString()} is in the future: it is ${now}`);
  if (time >= Date.parse(oldest.time)) return new Date(time).toISOString();
  throw new CliError(
    `the history of this cluster begins at ${oldest.time}, and you asked for ${new Date(time).toISOString()}; ` +
      'qd up --history-duration and --history-bytes say how much is kept',
  );
}

/** Reports whether a point in time is before the history. */
export function isBefore(point: PointInTime, { now, oldest }: KnownHistory): boolean {
  if ('resourceVersion' in point) return false;
  return ('time' in point ? point.time : Date.parse(now) - point.agoMs) < Date.parse(oldest.time);
}

/** Reads how far the history reaches. */
export async function knownHistory(read: (path: string) => Promise<object>): Promise<KnownHistory> {
  try {
    const found = (await read(HISTORY_PATH)) as Partial<KnownHistory>;
    if (found.oldest) return found as KnownHistory;
  } catch (cause) {
    if (isApiError(cause, 'Forbidden')) throw new CliError(`you may not read ${HISTORY_PATH}`, { cause });
    if (!isApiError(cause, 'NotFound')) throw cause;
  }
  throw new CliError('the server has no history: it is an older release, or not a Quarterdeck server');
}

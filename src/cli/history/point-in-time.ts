/** Turns what a user calls a time into a `resourceVersion`. */

import { isApiError } from '../../api/errors.ts';
import { HISTORY_PATH } from '../../api/past.ts';
import { parseDuration } from '../../base/time/duration.ts';
import { CliError } from '../output/cli-error.ts';

/** Answer of the server at `/history`. */
export interface KnownHistory {
  readonly now: string;
  readonly revisions: readonly { readonly time: string; readonly resourceVersion: string }[];
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

/** The version that was the newest one at that time. */
export function versionAt(point: PointInTime, { now, revisions }: KnownHistory): string {
  if ('resourceVersion' in point) return point.resourceVersion;
  const time = 'time' in point ? point.time : Date.parse(now) - point.agoMs;
  if (time > Date.parse(now)) throw new CliError(`${new Date(time).toISOString()} is in the future: it is ${now}`);
  const found = revisions.findLast((each) => Date.parse(each.time) <= time);
  if (found) return found.resourceVersion;
  const since = revisions[0]?.time ?? now;
  throw new CliError(
    `the history of this server begins at ${since}, and you asked for ${new Date(time).toISOString()}; ` +
      'qd up --history-duration says how long it is kept, and times are known since the server started',
  );
}

/** Reads when which version was reached. */
export async function knownHistory(read: (path: string) => Promise<object>): Promise<KnownHistory> {
  try {
    return (await read(HISTORY_PATH)) as KnownHistory;
  } catch (cause) {
    if (!isApiError(cause, 'NotFound', 'Forbidden')) throw cause;
    const why = isApiError(cause, 'Forbidden') ? 'you may not read /history' : 'it is not a Quarterdeck server';
    throw new CliError(`the server does not tell when its objects changed: ${why}; give a resourceVersion`, { cause });
  }
}

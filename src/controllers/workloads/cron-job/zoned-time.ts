/** Local time by the name of a time zone. */
import { BoundedMap } from '../../../base/collections/bounded-map.ts';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import { dayStart, zoneOffsets } from '../../../base/time/zone-offset.ts';

/** A local date and time. */
export interface WallTime {
  readonly year: number;
  /** Month; 1 is January. */
  readonly month: number;
  readonly day: number;
  /** Day of the week; 0 is Sunday. */
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
}

export interface Zone {
  read(time: number): WallTime;
  /** Returns the first moment of this day or a later one. Days beyond the end of the month belong to the next. */
  startOfDay(year: number, month: number, day: number): number;
  /** RFC 3339, in whole seconds. */
  format(time: number): string;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** A formatter takes about this much memory; the database has some 600 names. */
const ZONE_BYTES = 10_000;
const MAX_CACHED_BYTES = 4 * 1024 * 1024;
const zones = new BoundedMap<Zone>({ maxBytes: MAX_CACHED_BYTES, bytesOf: () => ZONE_BYTES });

/** The name is from the time zone database, in any spelling: upper and lower case are the same. */
export function zoneOf(name: string): Zone {
  const key = name.toLowerCase();
  return getOrInsert(zones, key, () => zoneWith(key === 'utc' ? () => 0 : zoneOffsets(name)));
}

/** `offset`: the offset from UTC at a time, in milliseconds. */
function zoneWith(offset: (time: number) => number): Zone {
  const read = (time: number): WallTime => {
    const wall = new Date(time + offset(time));
    return {
      year: wall.getUTCFullYear(),
      month: wall.getUTCMonth() + 1,
      day: wall.getUTCDate(),
      weekday: wall.getUTCDay(),
      hour: wall.getUTCHours(),
      minute: wall.getUTCMinutes(),
    };
  };
  const startOfDay = (year: number, month: number, day: number): number => {
    const midnight = dayStart(year, month, day);
    // Midnight may not exist, or occur twice: the offsets of a day before and after find the first moment.
    const candidates = [offset(midnight - DAY_MS), offset(midnight + DAY_MS)].map((ahead) => midnight - ahead);
    return Math.min(...candidates.filter((time) => time + offset(time) >= midnight));
  };
  const format = (time: number): string => {
    const ahead = offset(time);
    const text = new Date(time + ahead).toISOString().slice(0, 19);
    if (ahead === 0) return `${text}Z`;
    const minutes = Math.abs(Math.round(ahead / MINUTE_MS));
    const [hours, rest] = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'));
    return `${text}${ahead < 0 ? '-' : '+'}${hours}:${rest}`;
  };
  return { read, startOfDay, format };
}

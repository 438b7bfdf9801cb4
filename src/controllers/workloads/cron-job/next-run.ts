/** Computes the next run of a schedule. */

import { BoundedMap } from '../../../base/collections/bounded-map.ts';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import { dayStart, zoneOffsets } from '../../../base/time/zone-offset.ts';
import type { CalendarSchedule, CronSchedule } from '../../../kinds/groups/batch/cron-schedule.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const MINUTES_PER_HOUR = 60;

/** Number of years after which a date that has not occurred never does. */
const MAX_YEARS = 5;

/**
 * Returns the first run after the time; undefined when there is none. A local time that is skipped in spring does not run on
 * that day, and one that occurs twice in autumn runs twice.
 */
export function nextRun(schedule: CronSchedule, after: number, timeZone: string): number | undefined {
  if (schedule.type === 'interval') return Math.floor(after / SECOND_MS) * SECOND_MS + schedule.every;
  return nextOnCalendar(schedule, after, zoneOf(schedule.timeZone ?? timeZone));
}

function nextOnCalendar(schedule: CalendarSchedule, after: number, zone: Zone): number | undefined {
  let time = (Math.floor(after / MINUTE_MS) + 1) * MINUTE_MS;
  const lastYear = zone.read(time).year + MAX_YEARS;
  for (;;) {
    const wall = zone.read(time);
    const { year, month, hour, minute } = wall;
    if (year > lastYear) return undefined;
    if (!schedule.months.has(month) || !isDay(schedule, wall)) {
      const date = nextDate(schedule, wall, lastYear);
      if (!date) return undefined;
      time = zone.startOfDay(date.year, date.month, date.day);
    } else if (!schedule.hours.has(hour)) time += (MINUTES_PER_HOUR - minute) * MINUTE_MS;
    else if (!schedule.minutes.has(minute)) time = nextMinute(schedule, zone, time, wall);
    else return time;
  }
}

/**
 * The first date from the given one on that the schedule has, by the calendar alone: a schedule may have one in years, and to
 * ask the zone about a day takes a hundred times as long.
 */
function nextDate(schedule: CalendarSchedule, from: WallTime, lastYear: number): CalendarDate | undefined {
  const date = new Date(0);
  date.setUTCFullYear(from.year, from.month - 1, from.day);
  for (;;) {
    const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
    if (year > lastYear) return undefined;
    if (!schedule.months.has(month)) date.setUTCFullYear(year, month, 1);
    else if (isDay(schedule, { day, weekday: date.getUTCDay() })) return { year, month, day };
    else date.setUTCDate(day + 1);
  }
}

type CalendarDate = Pick<WallTime, 'year' | 'month' | 'day'>;

/** The time of the next minute that the schedule has in this hour, or of the next minute where the clock is set before it. */
function nextMinute({ minutes }: CalendarSchedule, zone: Zone, time: number, { hour, minute }: WallTime): number {
  let next = minute + 1;
  while (next < MINUTES_PER_HOUR && !minutes.has(next)) next++;
  const found = time + (next - minute) * MINUTE_MS;
  const wall = zone.read(found);
  const isThere = next === MINUTES_PER_HOUR ? wall.minute === 0 : wall.hour === hour && wall.minute === next;
  return isThere ? found : time + MINUTE_MS;
}

function isDay(
  { daysOfMonth, daysOfWeek, eitherDay }: CalendarSchedule,
  { day, weekday }: Pick<WallTime, 'day' | 'weekday'>,
): boolean {
  const [ofMonth, ofWeek] = [daysOfMonth.has(day), daysOfWeek.has(weekday)];
  return eitherDay ? ofMonth || ofWeek : ofMonth && ofWeek;
}

/** Finds the run of a schedule that is due, among those that were not started. */

/** Returns the first run after a time; undefined when there is none. */
type NextRun = (after: number) => number | undefined;

export interface Due {
  /** The latest run that was due and not started. */
  readonly run: number | undefined;
  /** Approximate number of other runs that were missed within the deadline; they are not started. */
  readonly missed: number;
  readonly next: number;
}

interface Window {
  /** Runs up to this time are done. */
  readonly since: number;
  /** Runs before this time may not start any more. */
  readonly deadline: number;
  readonly now: number;
}

/** Returns the due run; undefined when the schedule has no further one. */
export function dueRun(next: NextRun, { since, deadline, now }: Window): Due | undefined {
  const first = next(since);
  if (first === undefined) return undefined;
  if (now < first) return { run: undefined, missed: 0, next: first };
  const second = next(first);
  if (second === undefined) return undefined;
  if (now < second) return { run: first, missed: 0, next: second };
  const step = second - first;
  const countFrom = (time: number) => Math.floor((now - time) / step) + 1;
  // However long the gap, only the runs near its end are enumerated.
  const all = countFrom(first);
  for (let span = 2; ; span *= 2) {
    const run = lastUntil(now, all > span ? first + (all - span - 1) * step : since, next);
    if (run === undefined) continue;
    return { run, missed: countFrom(Math.max(first, deadline)), next: next(run) ?? Number.POSITIVE_INFINITY };
  }
}

/** Number of runs that are enumerated before the time is halved. Runs of an interval are fewer. */
const MAX_ENUMERATED_RUNS = 100;

/** Returns the last run after a time and up to now. A calendar may have one every minute, for years. */
function lastUntil(now: number, after: number, next: NextRun): number | undefined {
  const runAfter = (time: number) => {
    const run = next(time);
    return run !== undefined && run <= now ? run : undefined;
  };
  let found = runAfter(after);
  for (let runs = 1; found !== undefined && runs < MAX_ENUMERATED_RUNS; runs++) {
    const run = runAfter(found);
    if (run === undefined) return found;
    found = run;
  }
  if (found === undefined) return undefined;
  /** Upper bound of the search: no run is later. */
  let end = now;
  while (found < end) {
    const middle: number = Math.floor((found + end) / 2);
    const run = runAfter(middle);
    if (run === undefined) end = middle;
    else found = run;
  }
  return found;
}

/** A local date and time. */
interface WallTime {
  readonly year: number;
  /** Month; 1 is January. */
  readonly month: number;
  readonly day: number;
  /** Day of the week; 0 is Sunday. */
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
}

interface Zone {
  read(time: number): WallTime;
  /** Returns the first moment of this day or a later one. Days beyond the end of the month belong to the next. */
  startOfDay(year: number, month: number, day: number): number;
  /** RFC 3339, in whole seconds. */
  format(time: number): string;
}

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

/** Computes the next run of a schedule. */
import type { CalendarSchedule, CronSchedule } from '../../../kinds/groups/batch/cron-schedule.ts';
import { type WallTime, type Zone, zoneOf } from './zoned-time.ts';

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

/** When a schedule is due next. */
import type { CalendarSchedule, CronSchedule } from '../../../kinds/groups/batch/cron-schedule.ts';
import { type WallTime, type Zone, zoneOf } from './zoned-time.ts';

const SECOND = 1000;
const MINUTE = 60_000;
const HOUR = 60;

/** A day that does not come within so many years never comes. */
const YEARS = 5;

/**
 * The first moment after the given one; undefined when there is none. A time that clocks skip in spring is not due on that
 * day, and one that they show twice in autumn is due twice.
 */
export function nextRun(schedule: CronSchedule, after: number, timeZone: string): number | undefined {
  if (schedule.type === 'interval') return Math.floor(after / SECOND) * SECOND + schedule.every;
  return nextOnCalendar(schedule, after, zoneOf(schedule.timeZone ?? timeZone));
}

function nextOnCalendar(schedule: CalendarSchedule, after: number, zone: Zone): number | undefined {
  let time = (Math.floor(after / MINUTE) + 1) * MINUTE;
  const lastYear = zone.read(time).year + YEARS;
  for (;;) {
    const wall = zone.read(time);
    const { year, month, day, hour, minute } = wall;
    if (year > lastYear) return undefined;
    if (!schedule.months.has(month)) time = zone.startOfDay(year, month + 1, 1);
    else if (!isDay(schedule, wall)) time = zone.startOfDay(year, month, day + 1);
    else if (!schedule.hours.has(hour)) time += (HOUR - minute) * MINUTE;
    else if (!schedule.minutes.has(minute)) time += MINUTE;
    else return time;
  }
}

function isDay({ daysOfMonth, daysOfWeek, eitherDay }: CalendarSchedule, { day, weekday }: WallTime): boolean {
  const [ofMonth, ofWeek] = [daysOfMonth.has(day), daysOfWeek.has(weekday)];
  return eitherDay ? ofMonth || ofWeek : ofMonth && ofWeek;
}

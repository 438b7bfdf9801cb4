/** Functions of timestamps and durations. */
import { memoized } from '../../base/collections/bounded-map.ts';
import { zoneOffsets } from '../../base/time/zone-offset.ts';
import type { FunctionDeclaration, Overload } from '../library.ts';
import { DURATION, INT, STRING, TIMESTAMP } from '../types/type.ts';
import { fail } from '../values/failure.ts';
import { int } from '../values/numbers.ts';
import { floorDivide } from '../values/time.ts';
import type { Duration, Timestamp } from '../values/value.ts';
import { member } from './declare.ts';

const MILLISECOND = 1_000_000n;
const DAY_MS = 86_400_000;

export const TIME_FUNCTIONS: readonly FunctionDeclaration[] = [
  part('getFullYear', 'year', (date) => date.getUTCFullYear()),
  part('getMonth', 'month', (date) => date.getUTCMonth()),
  part('getDate', 'day_of_month_1_based', (date) => date.getUTCDate()),
  part('getDayOfMonth', 'day_of_month', (date) => date.getUTCDate() - 1),
  part('getDayOfWeek', 'day_of_week', (date) => date.getUTCDay()),
  part('getDayOfYear', 'day_of_year', dayOfYear),
  part('getHours', 'hours', (date) => date.getUTCHours(), 3_600_000n),
  part('getMinutes', 'minutes', (date) => date.getUTCMinutes(), 60_000n),
  part('getSeconds', 'seconds', (date) => date.getUTCSeconds(), 1_000n),
  part('getMilliseconds', 'milliseconds', (date) => date.getUTCMilliseconds(), 1n),
];

/** A part of a timestamp, in UTC or a time zone, and for some of a duration as a whole. */
function part(name: string, id: string, read: (date: Date) => number, unitMs?: bigint): FunctionDeclaration {
  const overloads: Overload[] = [
    member(`timestamp_to_${id}`, [TIMESTAMP], INT, (value: Timestamp) => read(utcDate(value))),
    member(`timestamp_to_${id}_with_tz`, [TIMESTAMP, STRING], INT, (value: Timestamp, zone: string) =>
      read(zonedDate(value, zone)),
    ),
  ];
  if (unitMs !== undefined) overloads.push(member(`duration_to_${id}`, [DURATION], INT, durationPart(name, unitMs)));
  return { name, overloads };
}

/** The whole duration in a unit, but for milliseconds the rest below a second. */
function durationPart(name: string, unitMs: bigint): Overload['call'] {
  return ({ nanoseconds }: Duration) => {
    const rest = name === 'getMilliseconds' ? nanoseconds % (1_000n * MILLISECOND) : nanoseconds;
    return int(rest / (unitMs * MILLISECOND));
  };
}

function utcDate({ nanoseconds }: Timestamp): Date {
  return new Date(Number(floorDivide(nanoseconds, MILLISECOND)));
}

/** A date whose UTC parts are those of the time zone. */
function zonedDate(value: Timestamp, zone: string): Date {
  const date = utcDate(value);
  return new Date(date.getTime() + offsetMs(date, zone));
}

function offsetMs(date: Date, zone: string): number {
  const colon = zone.indexOf(':');
  if (colon !== -1) return fixedOffsetMs(zone, colon);
  if (zone === '' || zone === 'UTC') return 0;
  return namedOffsetMs(date, zone);
}

function fixedOffsetMs(zone: string, colon: number): number {
  const hours = zone.slice(0, colon);
  const minutes = zone.slice(colon + 1);
  for (const text of [hours, minutes]) {
    if (!/^[-+]?\d{1,9}$/.test(text)) fail(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  const sign = zone.startsWith('-') ? -1 : 1;
  return (Number(hours) * 60 + sign * Number(minutes)) * 60_000;
}

/** Names of IANA time zones; other texts are rejected before Intl sees them. */
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+-]{0,31}(?:\/[A-Za-z0-9_+-]{1,32}){0,2}$/;

/** Approximate memory of a formatter of Intl. */
const FORMAT_BYTES = 50_000;
const MAX_FORMATS = 20;

const offsetsOf = memoized(zoneOffsets, { maxBytes: MAX_FORMATS * FORMAT_BYTES, bytesOf: () => FORMAT_BYTES });

function namedOffsetMs(date: Date, zone: string): number {
  const unknown = () => fail(`unknown time zone ${zone}`);
  if (!ZONE_NAME.test(zone)) return unknown();
  try {
    return offsetsOf(zone)(date.getTime());
  } catch {
    return unknown();
  }
}

function dayOfYear(date: Date): number {
  const start = new Date(date.getTime());
  start.setUTCMonth(0, 1);
  return Math.round((date.getTime() - start.getTime()) / DAY_MS);
}

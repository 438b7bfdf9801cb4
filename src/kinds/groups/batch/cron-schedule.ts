/**
 * Parses a CronJob's `schedule`: five fields (minute, hour, day of month, month, day of week), a macro such as
 * `@hourly`, or `@every` and a duration. The controller computes when the next run is due.
 */
import { BoundedMap } from '../../../base/collections/bounded-map.ts';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import { parseDuration } from '../../../base/time/go-duration.ts';

/** A schedule of five fields. It matches the minutes that all of them allow. */
export interface CalendarSchedule {
  readonly type: 'calendar';
  /** Time zone from a `TZ=` prefix, which new schedules cannot have. */
  readonly timeZone?: string;
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly daysOfMonth: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  /** Days of the week; 0 is Sunday. */
  readonly daysOfWeek: ReadonlySet<number>;
  /** True if both day fields are restricted; a day then matches if either field allows it. */
  readonly eitherDay: boolean;
}

/** A run at a fixed interval, in whole seconds, at least one. */
interface IntervalSchedule {
  readonly type: 'interval';
  readonly every: number;
}

export type CronSchedule = CalendarSchedule | IntervalSchedule;

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names?: Readonly<Record<string, number>>;
}

const MINUTES: Bounds = { min: 0, max: 59 };
const HOURS: Bounds = { min: 0, max: 23 };
const DAYS_OF_MONTH: Bounds = { min: 1, max: 31 };
const MONTHS: Bounds = {
  min: 1,
  max: 12,
  names: numbered(1, ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']),
};
const DAYS_OF_WEEK: Bounds = { min: 0, max: 6, names: numbered(0, ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']) };

const MACROS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

const EVERY_PREFIX = '@every ';

/** Parses a schedule, or returns an error. */
export function parseCronSchedule(text: string): CronSchedule | { readonly error: string } {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return { error: error.message };
    throw error;
  }
}

const MAX_CACHED_ZONE_BYTES = 32 * 1024;
/** Looking a zone up takes a tenth of a millisecond, and every plan of a CronJob asks. */
const zones = new BoundedMap<boolean>({ maxBytes: MAX_CACHED_ZONE_BYTES, bytesOf: () => 0 });

/** Reports whether this is a name in the IANA time zone database. */
export function isTimeZone(name: string): boolean {
  return getOrInsert(zones, name, () => findTimeZone(name));
}

function findTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function parse(text: string): CronSchedule {
  if (!text) throw new SyntaxError('empty spec string');
  const zoned = /^(?:CRON_)?TZ=(\S*)\s+(.*)$/s.exec(text);
  if (!zoned) {
    if (/^(?:CRON_)?TZ=/.test(text)) throw new SyntaxError('invalid schedule format: nothing follows the time zone');
    return parseUnzoned(text);
  }
  const [, timeZone = '', rest = ''] = zoned;
  if (!isTimeZone(timeZone)) throw new SyntaxError(`provided bad location ${timeZone}: unknown time zone ${timeZone}`);
  const schedule = parseUnzoned(rest.trim());
  return schedule.type === 'calendar' ? { ...schedule, timeZone } : schedule;
}

function parseUnzoned(text: string): CronSchedule {
  if (!text.startsWith('@')) return parseFields(text);
  const fields = Object.hasOwn(MACROS, text) ? MACROS[text] : undefined;
  if (fields) return parseFields(fields);
  if (!text.startsWith(EVERY_PREFIX)) throw new SyntaxError(`unrecognized descriptor: ${text}`);
  const duration = parseDuration(text.slice(EVERY_PREFIX.length));
  if (typeof duration !== 'number') throw new SyntaxError(`failed to parse duration ${text}: ${duration.error}`);
  return { type: 'interval', every: Math.max(1, Math.floor(duration / 1000)) * 1000 };
}

function parseFields(text: string): CalendarSchedule {
  const fields = text.split(/\s+/).filter(Boolean);
  const [minute, hour, dayOfMonth, month, dayOfWeek] = fields;
  if (fields.length !== 5 || !minute || !hour || !dayOfMonth || !month || !dayOfWeek) {
    throw new SyntaxError(`expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`);
  }
  return {
    type: 'calendar',
    minutes: parseField(minute, MINUTES).values,
    hours: parseField(hour, HOURS).values,
    ...parseDays(dayOfMonth, month, dayOfWeek),
  };
}

function parseDays(dayOfMonth: string, month: string, dayOfWeek: string) {
  const ofMonth = parseField(dayOfMonth, DAYS_OF_MONTH);
  const months = parseField(month, MONTHS).values;
  const ofWeek = parseField(dayOfWeek, DAYS_OF_WEEK);
  return {
    daysOfMonth: ofMonth.values,
    months,
    daysOfWeek: ofWeek.values,
    eitherDay: !ofMonth.any && !ofWeek.any,
  };
}

/** A list of ranges; `any` is true if one of them is a star without a step. */
function parseField(field: string, bounds: Bounds): { values: ReadonlySet<number>; any: boolean } {
  const values = new Set<number>();
  let any = false;
  for (const part of field.split(',').filter(Boolean)) {
    const range = parseRange(part, bounds);
    if (range.any) any = true;
    for (let value = range.start; value <= range.end; value += range.step) values.add(value);
  }
  return { values, any };
}

function parseRange(part: string, bounds: Bounds): { start: number; end: number; step: number; any: boolean } {
  const [span = '', stepText, ...slashes] = part.split('/');
  const [low = '', high, ...hyphens] = span.split('-');
  const star = low === '*' || low === '?';
  const start = star ? bounds.min : parseValue(low, bounds);
  let end = star ? bounds.max : start;
  if (!star && high !== undefined) {
    if (hyphens.length) throw new SyntaxError(`too many hyphens: ${part}`);
    end = parseValue(high, bounds);
  }
  if (slashes.length) throw new SyntaxError(`too many slashes: ${part}`);
  const step = stepText === undefined ? 1 : parseNumber(stepText);
  if (stepText !== undefined && high === undefined) end = bounds.max;
  if (start < bounds.min) {
    throw new SyntaxError(`beginning of range (${start}) below minimum (${bounds.min}): ${part}`);
  }
  if (end > bounds.max) throw new SyntaxError(`end of range (${end}) above maximum (${bounds.max}): ${part}`);
  if (start > end) throw new SyntaxError(`beginning of range (${start}) beyond end of range (${end}): ${part}`);
  if (step === 0) throw new SyntaxError(`step of range should be a positive number: ${part}`);
  return { start, end, step, any: star && step === 1 };
}

function parseValue(text: string, { names }: Bounds): number {
  const word = text.toLowerCase();
  return names && Object.hasOwn(names, word) ? (names[word] ?? 0) : parseNumber(text);
}

function parseNumber(text: string): number {
  if (!/^[+-]?\d+$/.test(text)) throw new SyntaxError(notANumber(text, 'invalid syntax'));
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new SyntaxError(notANumber(text, 'value out of range'));
  if (value < 0) throw new SyntaxError(`negative number (${value}) not allowed: ${text}`);
  return value;
}

function notANumber(text: string, why: string): string {
  return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: ${why}`;
}

function numbered(first: number, words: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries(words.map((word, index) => [word, first + index]));
}

/** Timestamps and durations as text, in the formats of RFC 3339 and Go. */
import { fail } from './failure.ts';
import { Duration, Timestamp } from './value.ts';

const SECOND = 1_000_000_000n;
const MILLISECOND = 1_000_000n;
/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999999999Z. */
const MIN_TIMESTAMP = -62_135_596_800n * SECOND;
const MAX_TIMESTAMP = 253_402_300_800n * SECOND - 1n;
const MAX_DURATION = 2n ** 63n - 1n;
const MAX_DURATION_CHARACTERS = 1_000;

export function timestamp(nanoseconds: bigint): Timestamp {
  if (nanoseconds < MIN_TIMESTAMP || nanoseconds > MAX_TIMESTAMP) fail('timestamp overflow');
  return new Timestamp(nanoseconds);
}

export function duration(nanoseconds: bigint): Duration {
  if (nanoseconds > MAX_DURATION || nanoseconds < -MAX_DURATION - 1n) fail('duration overflow');
  return new Duration(nanoseconds);
}

const RFC_3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9})\d*)?(?:Z|([+-])(\d\d):(\d\d))$/i;

/** Returns undefined when the text is not a timestamp, or out of range. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const found = RFC_3339.exec(text);
  if (found === null) return undefined;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  date.setUTCHours(hour, minute, second);
  const [fraction = '', sign = '+', offsetHours = '0', offsetMinutes = '0'] = found.slice(7);
  if (Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return undefined;
  const offset = BigInt(Number(offsetHours) * 3600 + Number(offsetMinutes) * 60) * (sign === '-' ? -1n : 1n);
  const nanoseconds = BigInt(date.getTime()) * MILLISECOND + BigInt(fraction.padEnd(9, '0')) - offset * SECOND;
  if (nanoseconds < MIN_TIMESTAMP || nanoseconds > MAX_TIMESTAMP) return undefined;
  return new Timestamp(nanoseconds);
}

/** Formats in UTC, with as many digits of the second as needed. */
export function formatTimestamp({ nanoseconds }: Timestamp): string {
  const seconds = floorDivide(nanoseconds, SECOND);
  const fraction = nanoseconds - seconds * SECOND;
  const date = new Date(Number(seconds) * 1000);
  const year = String(date.getUTCFullYear()).padStart(4, '0');
  const rest = date.toISOString().slice(-20, -5);
  const digits = fraction === 0n ? '' : `.${String(fraction).padStart(9, '0').replace(/0+$/, '')}`;
  return `${year}${rest}${digits}Z`;
}

const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: MILLISECOND,
  s: SECOND,
  m: 60n * SECOND,
  h: 3600n * SECOND,
};

/** Parses a text such as `1h30m` or `-1.5s`; undefined when it is not a duration, or out of range. */
export function parseDuration(text: string): Duration | undefined {
  if (text.length > MAX_DURATION_CHARACTERS) return undefined;
  const found = /^([+-]?)((?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+|0)$/.exec(text);
  if (found === null) return undefined;
  const [, sign, body] = found;
  let total = 0n;
  for (const [, whole = '', fraction = '', unit] of body!.matchAll(/(\d*)\.?(\d*)(ns|us|µs|μs|ms|s|m|h)/g)) {
    const scale = UNITS[unit!]!;
    const digits = fraction.slice(0, 18);
    total += BigInt(whole || '0') * scale + (BigInt(digits || '0') * scale) / 10n ** BigInt(digits.length);
  }
  const signed = sign === '-' ? -total : total;
  return signed > MAX_DURATION || signed < -MAX_DURATION - 1n ? undefined : new Duration(signed);
}

/** Formats in seconds, as the function `string` does: `5400s`, `0.25s`. */
export function formatDuration({ nanoseconds }: Duration): string {
  const sign = nanoseconds < 0n ? '-' : '';
  const absolute = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  const fraction = absolute % SECOND;
  const digits = fraction === 0n ? '' : `.${String(fraction).padStart(9, '0').replace(/0+$/, '')}`;
  return `${sign}${absolute / SECOND}${digits}s`;
}

export function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
}

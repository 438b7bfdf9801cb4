/** The wire formats of times and durations. Error messages are those of Go's time package. */

export class FormatError extends Error {
  override readonly name = 'FormatError';
}

const SECONDS = '2006-01-02T15:04:05Z07:00';
const MICROS = '2006-01-02T15:04:05.000000Z07:00';
const CANONICAL = /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{6})?Z$/;

/**
 * Converts an RFC 3339 time to UTC, with 0 or 6 digits of a second (with 6, the text must have six, too). Undefined for
 * the zero time, which means that no time is set.
 */
export function canonicalTime(text: string, digits: 0 | 6): string | undefined {
  const plain = CANONICAL.exec(text);
  if (plain && (plain[5] === undefined) === (digits === 0) && isDay(+plain[1]!, +plain[2]!, +plain[3]!)) {
    return text.startsWith('0001-01-01T00:00:00') && !/[1-9]/.test(plain[5] ?? '') ? undefined : text;
  }
  const { seconds, fraction } = parseTime(text, digits);
  if (seconds === ZERO_TIME && !/[1-9]/.test(fraction)) return undefined;
  const base = new Date(seconds * 1000).toISOString().slice(0, -5);
  if (base.length > 19) throw new FormatError(`parsing time ${JSON.stringify(text)}: year out of range`);
  return digits ? `${base}.${fraction.padEnd(6, '0').slice(0, 6)}Z` : `${base}Z`;
}

const ZERO_TIME = Date.parse('0001-01-01T00:00:00Z') / 1000;

function isDay(year: number, month: number, day: number): boolean {
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function parseTime(text: string, digits: 0 | 6): { seconds: number; fraction: string } {
  const layout = digits ? MICROS : SECONDS;
  let rest = text;
  const outOf = (part: string) => new FormatError(`parsing time ${JSON.stringify(text)}: ${part} out of range`);
  const take = (pattern: RegExp, element: string): string => {
    const match = pattern.exec(rest);
    if (!match) {
      throw new FormatError(
        `parsing time ${JSON.stringify(text)} as "${layout}": cannot parse ${JSON.stringify(rest)} as "${element}"`,
      );
    }
    rest = rest.slice(match[0].length);
    return match[0];
  };
  const year = Number(take(/^\d{4}/, '2006'));
  take(/^-/, '-');
  const month = Number(take(/^\d\d/, '01'));
  if (month < 1 || month > 12) throw outOf('month');
  take(/^-/, '-');
  const day = Number(take(/^\d\d/, '02'));
  take(/^T/, 'T');
  const hour = Number(take(/^\d\d?/, '15'));
  if (hour > 23) throw outOf('hour');
  take(/^:/, ':');
  const minute = Number(take(/^\d\d/, '04'));
  if (minute > 59) throw outOf('minute');
  take(/^:/, ':');
  const second = Number(take(/^\d\d/, '05'));
  if (second > 59) throw outOf('second');
  const fraction = take(digits ? /^[.,]\d{6}/ : /^(?:[.,]\d+)?/, '.000000').slice(1);
  const zone = take(/^(?:Z|[+-]\d\d:\d\d)/, 'Z07:00');
  if (rest) throw new FormatError(`parsing time ${JSON.stringify(text)}: extra text: ${JSON.stringify(rest)}`);
  if (!isDay(year, month, day)) throw outOf('day');
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, day);
  at.setUTCHours(hour, minute, second);
  return { seconds: at.getTime() / 1000 - offsetOf(zone, outOf), fraction };
}

function offsetOf(zone: string, outOf: (part: string) => FormatError): number {
  if (zone === 'Z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(4, 6));
  if (hours > 24) throw outOf('time zone offset hour');
  if (minutes > 60) throw outOf('time zone offset minute');
  return (zone[0] === '-' ? -60 : 60) * (hours * 60 + minutes);
}

const UNITS = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n],
  ['μs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);

/** `90m` is `1h30m0s`. */
export function canonicalDuration(text: string): string {
  const quoted = JSON.stringify(text);
  const sign = /^[+-]/.exec(text)?.[0] ?? '';
  let rest = text.slice(sign.length);
  if (rest === '0') return '0s';
  if (!rest) throw new FormatError(`time: invalid duration ${quoted}`);
  let total = 0n;
  while (rest) {
    const match = /^(?:(\d+)(?:\.(\d*))?|\.(\d+))([^\d.]*)/.exec(rest);
    if (!match) throw new FormatError(`time: invalid duration ${quoted}`);
    const unit = UNITS.get(match[4]!);
    if (!match[4]) throw new FormatError(`time: missing unit in duration ${quoted}`);
    if (!unit) throw new FormatError(`time: unknown unit ${JSON.stringify(match[4])} in duration ${quoted}`);
    const decimals = (match[2] ?? match[3] ?? '').slice(0, 18);
    total += BigInt(match[1] ?? 0) * unit + (BigInt(decimals || 0) * unit) / 10n ** BigInt(decimals.length);
    if (total >= 2n ** 63n) throw new FormatError(`time: invalid duration ${quoted}`);
    rest = rest.slice(match[0].length);
  }
  return (sign === '-' && total > 0n ? '-' : '') + durationText(total);
}

function durationText(nanos: bigint): string {
  if (nanos === 0n) return '0s';
  if (nanos < 1_000n) return `${nanos}ns`;
  if (nanos < 1_000_000n) return `${decimal(nanos, 3)}µs`;
  if (nanos < 1_000_000_000n) return `${decimal(nanos, 6)}ms`;
  const seconds = `${decimal(nanos % 60_000_000_000n, 9)}s`;
  const minutes = nanos / 60_000_000_000n;
  if (minutes === 0n) return seconds;
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

function decimal(value: bigint, places: number): string {
  const digits = value.toString().padStart(places + 1, '0');
  const fraction = digits.slice(-places).replace(/0+$/, '');
  return digits.slice(0, -places) + (fraction && `.${fraction}`);
}

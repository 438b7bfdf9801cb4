/** `'%s has %d'.format([name, count])`. */
import { MAX_TEXT_CHARACTERS } from '../cost/constants.ts';
import { Type } from '../types/type.ts';
import { fail } from '../values/failure.ts';
import { isMap, mapGet, mapKeys } from '../values/map.ts';
import { doubleValue, isDouble, isInt } from '../values/numbers.ts';
import { doubleText, exponentText, valueText } from '../values/text.ts';
import { typeNameOf } from '../values/type-of.ts';
import { Duration, Timestamp, Uint, type Value } from '../values/value.ts';
import { compareStrings } from './operators.ts';
import { quoted } from './quote.ts';

const DEFAULT_PRECISION = 6;
const MAX_PRECISION = 100;

export function format(text: string, args: readonly Value[]): string {
  let result = '';
  let used = 0;
  let at = 0;
  while (at < text.length) {
    const percent = text.indexOf('%', at);
    if (percent === -1) return result + text.slice(at);
    result += text.slice(at, percent);
    at = percent + 1;
    if (text[at] === '%') {
      result += '%';
      at++;
      continue;
    }
    if (at >= text.length) return fail('unexpected end of string');
    const { clause, precision, end } = clauseAt(text, at);
    at = end;
    const argument = args[used];
    if (argument === undefined) return fail(`index ${used} out of range`);
    used++;
    result += formatClause(clause, precision, argument);
    if (result.length > MAX_TEXT_CHARACTERS) return fail(`string exceeds ${MAX_TEXT_CHARACTERS} characters`);
  }
  return result;
}

function clauseAt(text: string, start: number): { clause: string; precision: number | undefined; end: number } {
  let at = start;
  let precision: number | undefined;
  if (text[at] === '.') {
    const digits = /^\d{0,9}/.exec(text.slice(at + 1, at + 10))![0];
    if (digits === '') fail('error while parsing precision: could not find end of precision specifier');
    precision = Number(digits);
    if (precision > MAX_PRECISION) fail(`precision exceeds ${MAX_PRECISION}`);
    at += 1 + digits.length;
  }
  const clause = text[at];
  if (clause === undefined) return fail('unexpected end of string');
  return { clause, precision, end: at + 1 };
}

function formatClause(clause: string, precision = DEFAULT_PRECISION, value: Value): string {
  switch (clause) {
    case 's':
      return display(value);
    case 'd':
      return decimal(value);
    case 'f':
      return fixed(value, precision);
    case 'e':
      return scientific(value);
    case 'b':
      return binary(value);
    case 'x':
      return hexadecimal(value);
    case 'X':
      return hexadecimal(value).toUpperCase();
    case 'o':
      return octal(value);
    default:
      return fail(`could not parse formatting clause: unrecognized formatting clause "${clause}"`);
  }
}

function wrongType(what: string, value: Value, accepted: string): never {
  return fail(
    `error during formatting: ${what} clause can only be used on ${accepted}, was given ${typeNameOf(value)}`,
  );
}

/** Formats a value for `%s`. */
function display(value: Value): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `[${value.map(nested).join(', ')}]`;
  if (isMap(value)) {
    const entries = mapKeys(value).map((key) => [nestedKey(key), nested(mapGet(value, key)!)] as const);
    const sorted = entries.sort(([a], [b]) => compareStrings(a, b));
    return `{${sorted.map(([key, item]) => `${key}:${item}`).join(', ')}}`;
  }
  const isText =
    ['string', 'boolean', 'number', 'bigint'].includes(typeof value) ||
    [Uint, Timestamp, Duration, Type, Uint8Array].some((type) => value instanceof type) ||
    isDouble(value);
  if (isText) return valueText(value);
  const accepted = 'strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps';
  return wrongType('string', value, accepted);
}

function nestedKey(key: Value): string {
  if (typeof key === 'string') return quoted(key);
  if (typeof key === 'boolean' || isInt(key) || key instanceof Uint) return valueText(key);
  return fail(`no formatting function for map key of type ${typeNameOf(key)}`);
}

/** A value inside of a list or map, as a literal. */
function nested(value: Value): string {
  if (typeof value === 'string') return quoted(value);
  if (value instanceof Uint8Array) return `b${quoted(valueText(value))}`;
  if (value instanceof Timestamp) return `timestamp(${quoted(valueText(value))})`;
  if (value instanceof Duration) return `duration(${quoted(valueText(value))})`;
  if (isDouble(value)) {
    const number = doubleValue(value);
    return Number.isFinite(number) ? fixedText(number, DEFAULT_PRECISION) : quoted(doubleText(number));
  }
  return display(value);
}

function decimal(value: Value): string {
  return isInt(value) || value instanceof Uint ? valueText(value) : wrongType('decimal', value, 'integers');
}

/** Returns the number of a double, or of a text that stands for a number which JSON lacks. */
function floating(what: string, value: Value): number {
  if (value === 'NaN') return Number.NaN;
  if (value === 'Infinity') return Number.POSITIVE_INFINITY;
  if (value === '-Infinity') return Number.NEGATIVE_INFINITY;
  return isDouble(value) ? doubleValue(value) : wrongType(what, value, 'doubles');
}

function notFinite(number: number): string {
  return Number.isNaN(number) ? 'NaN' : number > 0 ? '∞' : '-∞';
}

/** Formats in the locale of cel-go, which is English: thousands are grouped. */
function fixed(value: Value, precision: number): string {
  const number = floating('fixed-point', value);
  if (!Number.isFinite(number)) return notFinite(number);
  const [whole, fraction] = fixedText(number, precision).split('.') as [string, string?];
  const grouped = whole.replace(/\d(?=(?:\d{3})+$)/g, '$&,');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** Rounds as Go does: to the nearest, and to the even digit if the number lies in the middle. */
function fixedText(number: number, precision: number): string {
  if (Math.abs(number) >= 1e21) return BigInt(number) + (precision === 0 ? '' : `.${'0'.repeat(precision)}`);
  const text = number.toFixed(precision);
  const exact = number.toFixed(Math.min(100, precision + 30));
  const kept = exact.slice(0, precision === 0 ? exact.indexOf('.') : exact.indexOf('.') + 1 + precision);
  const rest = exact.slice(exact.indexOf('.') + 1 + precision);
  return /^50*$/.test(rest) && /[02468]$/.test(kept) ? kept : text;
}

/** cel-go takes the precision for a width here, so that it changes nothing. */
function scientific(value: Value): string {
  const number = floating('scientific', value);
  if (!Number.isFinite(number)) return notFinite(number);
  const [mantissa, exponent] = number.toExponential(DEFAULT_PRECISION).split('e') as [string, string];
  const power = exponentText(Number(exponent)).replace('+', '');
  return `${mantissa}\u202f×\u202f10${power.replace(/[-\d]/g, (c) => (c === '-' ? '⁻' : SUPERSCRIPTS[Number(c)]!))}`;
}

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

function integerOf(value: Value): bigint | undefined {
  return isInt(value) ? BigInt(value) : value instanceof Uint ? BigInt(value.value) : undefined;
}

function binary(value: Value): string {
  if (typeof value === 'boolean') return value ? '1' : '0';
  return integerOf(value)?.toString(2) ?? wrongType('binary', value, 'integers and bools');
}

function octal(value: Value): string {
  return integerOf(value)?.toString(8) ?? wrongType('octal', value, 'integers');
}

function hexadecimal(value: Value): string {
  if (typeof value === 'string' || value instanceof Uint8Array) return Buffer.from(value as string).toString('hex');
  return integerOf(value)?.toString(16) ?? wrongType('hex', value, 'integers, byte buffers, and strings');
}

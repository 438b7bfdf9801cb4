/** Values as text, as the function `string` has it. */

import { Type } from '../types/type.ts';
import { fail } from './failure.ts';
import { doubleValue, isDouble, isInt } from './numbers.ts';
import { formatDuration, formatTimestamp } from './time.ts';
import { typeNameOf } from './type-of.ts';
import { Duration, Timestamp, Uint, type Value } from './value.ts';

export function valueText(value: Value): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || isInt(value)) return String(value);
  if (value instanceof Uint) return String(value.value);
  if (isDouble(value)) return doubleText(doubleValue(value));
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof Type) return value.name;
  if (value instanceof Uint8Array) return bytesText(value);
  return fail(`type conversion error from '${typeNameOf(value)}' to 'string'`);
}

/** Formats like Go's %g: an exponent below -4 or from 21 on is written as such. */
export function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  const [mantissa, exponent] = value.toExponential().split('e') as [string, string];
  const power = Number(exponent);
  if (power < -4 || power >= 21) return `${mantissa}e${exponentText(power)}`;
  return plainDecimal(value);
}

/** Formats an exponent with a sign and at least two digits: `+06`. */
export function exponentText(power: number): string {
  return `${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

function plainDecimal(value: number): string {
  const text = String(value);
  if (!text.includes('e')) return text;
  const digits = text.replace(/[-.]|e.*/g, '').length;
  return value.toFixed(Math.min(100, digits + 4)).replace(/\.?0+$/, '');
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function bytesText(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    return fail('invalid UTF-8 in bytes, cannot convert to string');
  }
}

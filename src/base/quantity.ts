/**
 * Amounts such as `500m` or `1Gi`: exact, and formatted as Kubernetes does. A quantity is a mantissa times a power of
 * ten, and the family of suffixes it was written in, which it is printed in.
 */
import { memoized } from './collections/bounded-map.ts';

export class QuantityError extends Error {
  override readonly name = 'QuantityError';
}

export interface Quantity {
  readonly mantissa: bigint;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

const WRONG_FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const WRONG_SUFFIX = "unable to parse quantity's suffix";
const WRONG_NUMBER = 'unable to parse numeric part of quantity';

/** The syntax of quantities. A suffix begins with no digit, so that matching takes linear time. */
const SHAPE = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(|[eEinumkKMGTP]+[-+]?[0-9]*|[-+][0-9]*)$/;

const DECIMAL: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };
const DECIMAL_SUFFIX = new Map(Object.entries(DECIMAL).map(([suffix, exponent]) => [exponent, suffix]));
const BINARY_SUFFIX = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** Maximum sum of digits and exponent, because arithmetic with longer numbers would be slow. */
const MAX_DIGITS = 1000;
/** The smallest unit is a billionth; smaller amounts are rounded away from zero. */
const NANO_EXPONENT = -9;
const MILLI_EXPONENT = -3;
/** A binary amount is capped at the largest 64-bit integer. */
const MAX_BINARY = 2n ** 63n - 1n;
/** Number of digits that always fit into 64 bits. */
const MAX_INT64_DIGITS = 18;

interface ParsedText {
  readonly negative: boolean;
  /** The digits before the point, without leading zeros, but at least one. */
  readonly whole: string;
  readonly decimals: string;
  readonly format: QuantityFormat;
  /** Exponent of ten, or of two for BinarySI. */
  readonly power: number;
}

function read(text: string): ParsedText {
  const match = text === '' ? null : SHAPE.exec(text);
  if (!match) throw new QuantityError(WRONG_FORMAT);
  const [format, power] = readSuffix(match[4]!);
  const whole = match[2]!.replace(/^0+/, '') || '0';
  const decimals = match[3] ?? '';
  if (!hasDigits(match) && !isZeroWithoutDigits(format, power)) throw new QuantityError(WRONG_NUMBER);
  if (whole.length + decimals.length + Math.abs(power) > MAX_DIGITS) throw new QuantityError(WRONG_NUMBER);
  return { negative: match[1] === '-', whole, decimals, format, power };
}

/** Reports whether there is a number; a sign alone counts as one. */
const hasDigits = ([text, sign, whole, decimals]: RegExpExecArray) => Boolean(whole || decimals) || text === sign;

/**
 * Kubernetes accepts `Mi` or `k` as zero, against its documentation; it rejects suffixes without digits only where it
 * computes with arbitrary precision.
 */
function isZeroWithoutDigits(format: QuantityFormat, power: number): boolean {
  return format === 'BinarySI' ? power < BINARY.Pi! : power >= NANO_EXPONENT;
}

function readSuffix(suffix: string): [QuantityFormat, number] {
  if (Object.hasOwn(DECIMAL, suffix)) return ['DecimalSI', DECIMAL[suffix]!];
  if (Object.hasOwn(BINARY, suffix)) return ['BinarySI', BINARY[suffix]!];
  if (!/^[eE][-+]?[0-9]+$/.test(suffix)) throw new QuantityError(WRONG_SUFFIX);
  return ['DecimalExponent', Number(suffix.slice(1))];
}

/** Cache by text: the objects of a cluster have few different amounts. */
const REMEMBERED = { maxBytes: 256 * 1024, bytesOf: () => 100 };

/** Parses a quantity. Throws a QuantityError with the message of Kubernetes. */
export const parseQuantity = memoized((text): Quantity => Object.freeze(amountOf(read(text))), REMEMBERED);

function amountOf({ negative, whole, decimals, format, power }: ParsedText): Quantity {
  let mantissa = BigInt(whole + decimals);
  let exponent = -decimals.length;
  let family = format;
  if (format === 'BinarySI') {
    mantissa <<= BigInt(power);
  } else {
    exponent += power;
  }
  if (exponent < NANO_EXPONENT) {
    mantissa = divideUp(mantissa, NANO_EXPONENT - exponent);
    exponent = NANO_EXPONENT;
  }
  if (format === 'BinarySI') {
    if (mantissa > MAX_BINARY * 10n ** BigInt(-exponent)) {
      mantissa = MAX_BINARY;
      exponent = 0;
    }
    if (mantissa > 0n && mantissa < 10n ** BigInt(-exponent)) family = 'DecimalSI';
  }
  return { mantissa: negative ? -mantissa : mantissa, exponent, format: family };
}

/** Divides a positive number by a power of ten; a remainder rounds up. */
function divideUp(value: bigint, power: number): bigint {
  if (value === 0n) return 0n;
  const divisor = 10n ** BigInt(power);
  return (value + divisor - 1n) / divisor;
}

/** The form in which a quantity is stored. Text that is canonical enough is kept (`1.500`), as in Kubernetes. */
export const canonicalQuantity = memoized((text): string => {
  const written = read(text);
  return isCanonical(written) ? text : formatQuantity(amountOf(written));
}, REMEMBERED);

/** The stored form of quantities whose smallest unit is a thousandth: smaller amounts are rounded up. */
export const canonicalThousandths = memoized((text): string => {
  const amount = parseQuantity(text);
  if (amount.exponent >= MILLI_EXPONENT) return canonicalQuantity(text);
  const mantissa = divideUp(
    amount.mantissa < 0n ? -amount.mantissa : amount.mantissa,
    MILLI_EXPONENT - amount.exponent,
  );
  return formatQuantity({ ...amount, mantissa: amount.mantissa < 0n ? -mantissa : mantissa, exponent: MILLI_EXPONENT });
}, REMEMBERED);

function isCanonical({ whole, decimals, format, power }: ParsedText): boolean {
  const digits = whole + decimals;
  if (format === 'BinarySI') {
    if (decimals || 14 - whole.length - Math.floor((power * 3) / 10) < 0) return false;
    return (Number(whole.slice(-3)) & 7) !== 0;
  }
  const exponent = power - decimals.length;
  return (
    digits.length <= MAX_INT64_DIGITS &&
    exponent >= NANO_EXPONENT &&
    exponent % 3 === 0 &&
    !digits.endsWith('000') &&
    digits[0] !== '0'
  );
}

export function formatQuantity(quantity: Quantity): string {
  const { mantissa, exponent } = quantity;
  if (mantissa === 0n) return '0';
  if (quantity.format === 'BinarySI') {
    const bytes = wholeValue(quantity);
    if (bytes !== undefined && (bytes >= 1024n || bytes <= -1024n)) return binaryText(bytes);
  }
  let digits = mantissa;
  let power = exponent;
  while (digits % 10n === 0n) {
    digits /= 10n;
    power++;
  }
  while (power % 3 !== 0) {
    digits *= 10n;
    power--;
  }
  if (quantity.format === 'DecimalExponent') return power === 0 ? `${digits}` : `${digits}e${power}`;
  while (power > 18) {
    digits *= 1000n;
    power -= 3;
  }
  return `${digits}${DECIMAL_SUFFIX.get(power)}`;
}

function wholeValue({ mantissa, exponent }: Quantity): bigint | undefined {
  if (exponent >= 0) return mantissa * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  return mantissa % divisor === 0n ? mantissa / divisor : undefined;
}

function binaryText(bytes: bigint): string {
  let left = bytes;
  let step = 0;
  while (left % 1024n === 0n && step < BINARY_SUFFIX.length - 1) {
    left /= 1024n;
    step++;
  }
  return `${left}${BINARY_SUFFIX[step]}`;
}

/** Returns the amount times a power of ten, rounded up to a whole number. */
export function scaled({ mantissa, exponent }: Quantity, power: number): bigint {
  const shift = exponent + power;
  if (shift >= 0) return mantissa * 10n ** BigInt(shift);
  const divisor = 10n ** BigInt(-shift);
  const whole = mantissa / divisor;
  return mantissa > 0n && mantissa % divisor !== 0n ? whole + 1n : whole;
}

/** Compares two quantities: negative when `a` is less than `b`, positive when it is greater, 0 when they are equal. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  const [left, right] = aligned(a, b);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Adds quantities, in the family of `a`, or of `b` when `a` is zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  const [left, right, exponent] = aligned(a, b);
  return { mantissa: left + right, exponent, format: a.mantissa === 0n ? b.format : a.format };
}

export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return addQuantities(a, { ...b, mantissa: -b.mantissa });
}

function aligned(a: Quantity, b: Quantity): [bigint, bigint, number] {
  if (a.exponent === b.exponent) return [a.mantissa, b.mantissa, a.exponent];
  const exponent = Math.min(a.exponent, b.exponent);
  return [
    a.mantissa * 10n ** BigInt(a.exponent - exponent),
    b.mantissa * 10n ** BigInt(b.exponent - exponent),
    exponent,
  ];
}

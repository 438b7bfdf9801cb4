/** The arithmetic of CEL's int, uint and double, with the errors of cel-go. */
import { fail } from './failure.ts';
import { Double, Uint, type Value } from './value.ts';

const MIN_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;
const MAX_UINT = 2n ** 64n - 1n;
const TWO_TO_63 = 2 ** 63;

export function isInt(value: Value): value is number | bigint {
  return typeof value === 'number'
    ? Number.isInteger(value) && value < TWO_TO_63 && value >= -TWO_TO_63
    : typeof value === 'bigint';
}

export function isDouble(value: Value): value is number | Double {
  return value instanceof Double || (typeof value === 'number' && !isInt(value));
}

/** An int from the result of a computation. */
export function int(value: bigint): number | bigint {
  if (value > MAX_INT || value < MIN_INT) fail('integer overflow');
  return narrow(value);
}

export function uint(value: bigint): Uint {
  if (value > MAX_UINT || value < 0n) fail('unsigned integer overflow');
  return new Uint(narrow(value));
}

/** A double from the result of a computation. */
export function double(value: number): number | Double {
  return Number.isInteger(value) ? new Double(value) : value;
}

function narrow(value: bigint): number | bigint {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

/** The mathematical value of an int, uint or double: JavaScript compares numbers with bigints exactly. */
export function numericValue(value: Value): number | bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  return value instanceof Double || value instanceof Uint ? value.value : undefined;
}

/** Negative, zero or positive; undefined when one of them is NaN. Large integers are compared with doubles as doubles. */
export function compareNumeric(a: number | bigint, b: number | bigint): number | undefined {
  if (typeof a !== typeof b) return compareNumeric(Number(a), Number(b));
  if (a < b) return -1;
  if (a > b) return 1;
  return a >= b ? 0 : undefined;
}

export function addInts(a: number | bigint, b: number | bigint): number | bigint {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return int(BigInt(a) + BigInt(b));
}

export function subtractInts(a: number | bigint, b: number | bigint): number | bigint {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b;
    if (Number.isSafeInteger(difference)) return difference;
  }
  return int(BigInt(a) - BigInt(b));
}

export function multiplyInts(a: number | bigint, b: number | bigint): number | bigint {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b;
    // Adding zero turns -0 into 0.
    if (Number.isSafeInteger(product)) return product + 0;
  }
  return int(BigInt(a) * BigInt(b));
}

export function divideInts(a: number | bigint, b: number | bigint): number | bigint {
  if (b === 0) fail('division by zero');
  return int(BigInt(a) / BigInt(b));
}

export function moduloInts(a: number | bigint, b: number | bigint): number | bigint {
  if (b === 0) fail('modulus by zero');
  const left = BigInt(a);
  const right = BigInt(b);
  if (left === MIN_INT && right === -1n) fail('integer overflow');
  return int(left % right);
}

export function negateInt(value: number | bigint): number | bigint {
  return int(-BigInt(value));
}

export function addUints(a: Uint, b: Uint): Uint {
  return uint(BigInt(a.value) + BigInt(b.value));
}

export function subtractUints(a: Uint, b: Uint): Uint {
  return uint(BigInt(a.value) - BigInt(b.value));
}

export function multiplyUints(a: Uint, b: Uint): Uint {
  return uint(BigInt(a.value) * BigInt(b.value));
}

export function divideUints(a: Uint, b: Uint): Uint {
  if (b.value === 0) fail('division by zero');
  return uint(BigInt(a.value) / BigInt(b.value));
}

export function moduloUints(a: Uint, b: Uint): Uint {
  if (b.value === 0) fail('modulus by zero');
  return uint(BigInt(a.value) % BigInt(b.value));
}

export function doubleValue(value: Value): number {
  return value instanceof Double ? value.value : Number(value as number | bigint);
}

/** Decoding of single values: type, range, canonical form. */
import { canonicalQuantity, canonicalThousandths, QuantityError } from '../../base/quantity.ts';
import type { BooleanSchema, IntegerSchema, IntOrStringSchema, NumberSchema, Schema, StringSchema } from '../schema.ts';
import { DecodeError, jsonWord, Mismatch } from './decode-error.ts';
import { canonicalDuration, canonicalTime, FormatError } from './time-formats.ts';

type ScalarSchema = StringSchema | IntegerSchema | NumberSchema | BooleanSchema | IntOrStringSchema;

export function decodeScalar(schema: ScalarSchema): (input: unknown) => unknown {
  switch (schema.type) {
    case 'string':
      return decodeString(schema);
    case 'integer':
      return schema.format === 'int32' ? decodeInt32 : decodeInt64;
    case 'number':
      return decodeNumber;
    case 'boolean':
      return decodeBoolean;
    case 'intOrString':
      return decodeIntOrString;
  }
}

function decodeString({ format, thousandths }: StringSchema): (input: unknown) => unknown {
  switch (format) {
    case undefined:
      return decodeText;
    case 'time':
      return (input) => formatted(canonicalTime, decodeText(input), 0);
    case 'microTime':
      return (input) => formatted(canonicalTime, decodeText(input), 6);
    case 'duration':
      return (input) => formatted(canonicalDuration, decodeText(input));
    case 'quantity':
      return thousandths ? decodeThousandths : decodeQuantity;
    case 'bytes':
      return decodeBytes;
  }
}

function decodeText(input: unknown): string {
  if (typeof input !== 'string') throw new Mismatch(jsonWord(input), 'string');
  return input;
}

function formatted<A extends unknown[], R>(canonical: (text: string, ...rest: A) => R, text: string, ...rest: A): R {
  try {
    return canonical(text, ...rest);
  } catch (error) {
    throw error instanceof FormatError ? new DecodeError(error.message, { cause: error }) : error;
  }
}

const decodeQuantity = (input: unknown) => quantityOf(input, canonicalQuantity);
const decodeThousandths = (input: unknown) => quantityOf(input, canonicalThousandths);

function quantityOf(input: unknown, canonical: (text: string) => string): string {
  try {
    return canonical(typeof input === 'string' ? input.trim() : String(JSON.stringify(input)));
  } catch (error) {
    throw error instanceof QuantityError ? new DecodeError(error.message, { cause: error }) : error;
  }
}

function decodeBytes(input: unknown): string {
  if (typeof input !== 'string') throw new Mismatch(jsonWord(input), '[]uint8');
  const canonical = Buffer.from(input, 'base64').toString('base64');
  if (canonical === input) return input;
  const bad = illegalByte(input);
  if (bad >= 0) throw new DecodeError(`illegal base64 data at input byte ${bad}`);
  return canonical;
}

const NO_BASE64 = /[^A-Za-z0-9+/\r\n]/;

/** The position at which text stops being base64 (line breaks are skipped), or -1. */
function illegalByte(text: string): number {
  const end = text.search(NO_BASE64);
  const i = end < 0 ? text.length : end;
  const position = withoutBreaks(text.slice(0, i)).length % 4;
  if (end < 0) return position === 0 ? -1 : text.length - position;
  const rest = withoutBreaks(text.slice(i));
  if (text[i] !== '=' || position < 2) return Buffer.byteLength(text.slice(0, i));
  const padding = position === 2 ? '==' : '=';
  if (rest === padding) return -1;
  return rest.startsWith(padding) ? i + padding.length : i + 1;
}

function withoutBreaks(text: string): string {
  return text.replace(/[\r\n]+/g, '');
}

function decodeInt32(input: unknown): number {
  if (typeof input !== 'number' || (input | 0) !== input) throw notInteger(input, 'int32');
  return input;
}

/**
 * Rejects integers beyond 2^53-1: a number cannot hold them exactly, and the parser has already rounded them
 * (docs/decisions/0013-int64.md).
 */
function decodeInt64(input: unknown): number {
  if (Number.isSafeInteger(input)) return input as number;
  if (Number.isInteger(input)) throw new Mismatch('number', 'int64', INEXACT);
  throw notInteger(input, 'int64');
}

const INEXACT = `integers beyond ${Number.MAX_SAFE_INTEGER} cannot be stored exactly`;

function decodeNumber(input: unknown): number {
  if (typeof input !== 'number' || !Number.isFinite(input)) throw notInteger(input, 'float64');
  return input;
}

function decodeBoolean(input: unknown): boolean {
  if (typeof input !== 'boolean') throw new Mismatch(jsonWord(input), 'bool');
  return input;
}

function decodeIntOrString(input: unknown): number | string {
  return typeof input === 'string' ? input : decodeInt32(input);
}

function notInteger(input: unknown, type: string): Mismatch {
  return new Mismatch(jsonWord(input, true), type);
}

/** The zero value, where the type has one. */
export function zeroOf(schema: Schema): unknown {
  switch (schema.type) {
    case 'string':
      return zeroText(schema.format);
    case 'integer':
    case 'number':
    case 'intOrString':
      return 0;
    case 'boolean':
      return false;
    default:
      return undefined;
  }
}

function zeroText(format: StringSchema['format']): string | undefined {
  switch (format) {
    case 'quantity':
      return '0';
    case 'duration':
      return '0s';
    case 'time':
    case 'microTime':
      return undefined;
    default:
      return '';
  }
}

/** The name of a type in messages. */
export function goType(schema: Schema): string {
  switch (schema.type) {
    case 'object':
      return `v1.${schema.name}`;
    case 'list':
      return `[]${goType(schema.items)}`;
    case 'map':
      return `map[string]${goType(schema.values)}`;
    case 'lazy':
      return goType(schema.resolve());
    case 'any':
      return 'runtime.RawExtension';
    case 'string':
      return stringType[schema.format ?? 'text'];
    case 'integer':
      return schema.format;
    case 'number':
      return 'float64';
    case 'boolean':
      return 'bool';
    case 'intOrString':
      return 'intstr.IntOrString';
  }
}

const stringType = {
  text: 'string',
  time: 'v1.Time',
  microTime: 'v1.MicroTime',
  duration: 'v1.Duration',
  quantity: 'resource.Quantity',
  bytes: '[]uint8',
} as const;

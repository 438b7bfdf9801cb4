/** Conversions between types: `int(x)`, `string(x)`, `type(x)`, `dyn(x)` and so on. */
import { readsTargetOnly } from '../cost/estimates.ts';
import type { FunctionDeclaration } from '../library.ts';
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  STRING,
  TIMESTAMP,
  type Type,
  typeParameter,
  typeType,
  UINT,
} from '../types/type.ts';
import { fail } from '../values/failure.ts';
import { double, doubleValue, int, uint } from '../values/numbers.ts';
import { valueText } from '../values/text.ts';
import { duration, floorDivide, parseDuration, parseTimestamp, timestamp } from '../values/time.ts';
import { typeOf } from '../values/type-of.ts';
import type { Duration, Timestamp, Uint, Value } from '../values/value.ts';
import { plain, readsFirst, scansFirst } from './declare.ts';

const T = typeParameter('T');
const SECOND = 1_000_000_000n;

const same = (value: Value) => value;

export const CONVERSIONS: readonly FunctionDeclaration[] = [
  { name: 'type', overloads: [plain('type', [T], typeType(T), typeOf)] },
  { name: 'dyn', overloads: [plain('to_dyn', [T], DYN, same)] },
  {
    name: 'bool',
    overloads: [plain('bool_to_bool', [BOOL], BOOL, same), plain('string_to_bool', [STRING], BOOL, parseBool)],
  },
  {
    name: 'bytes',
    overloads: [
      plain('bytes_to_bytes', [BYTES], BYTES, same),
      plain('string_to_bytes', [STRING], BYTES, (text: string) => new Uint8Array(Buffer.from(text)), {
        costBefore: readsFirst,
        estimate: (call) => {
          const size = call.sizeOf(call.args[0]!);
          return { cost: readsTargetOnly(call)!.cost, size: { min: size.min, max: size.max * 4 } };
        },
      }),
    ],
  },
  {
    name: 'double',
    overloads: [
      plain('double_to_double', [DOUBLE], DOUBLE, same),
      plain('int64_to_double', [INT], DOUBLE, (value: number | bigint) => double(Number(value))),
      plain('uint64_to_double', [UINT], DOUBLE, (value: Uint) => double(Number(value.value))),
      plain('string_to_double', [STRING], DOUBLE, parseFloat64, { costBefore: scansFirst }),
    ],
  },
  {
    name: 'int',
    overloads: [
      plain('int64_to_int64', [INT], INT, same),
      plain('double_to_int64', [DOUBLE], INT, (value: Value) => truncated(doubleValue(value))),
      plain('duration_to_int64', [DURATION], INT, (value: Duration) => int(value.nanoseconds)),
      plain('string_to_int64', [STRING], INT, (text: string) =>
        /^[-+]?\d{1,40}$/.test(text) ? inRange(BigInt(text.replace('+', '')), INT, int) : conversionError(STRING, INT),
      ),
      plain('timestamp_to_int64', [TIMESTAMP], INT, (value: Timestamp) => int(floorDivide(value.nanoseconds, SECOND))),
      plain('uint64_to_int64', [UINT], INT, (value: Uint) => int(BigInt(value.value))),
    ],
  },
  {
    name: 'uint',
    overloads: [
      plain('uint64_to_uint64', [UINT], UINT, same),
      plain('double_to_uint64', [DOUBLE], UINT, (value: Value) => truncatedUint(doubleValue(value))),
      plain('int64_to_uint64', [INT], UINT, (value: number | bigint) => uint(BigInt(value))),
      plain('string_to_uint64', [STRING], UINT, (text: string) =>
        /^\d{1,40}$/.test(text) ? inRange(BigInt(text), UINT, uint) : conversionError(STRING, UINT),
      ),
    ],
  },
  {
    name: 'string',
    overloads: [
      plain('string_to_string', [STRING], STRING, same),
      plain('bool_to_string', [BOOL], STRING, valueText),
      plain('bytes_to_string', [BYTES], STRING, valueText, {
        costBefore: readsFirst,
        estimate: (call) => {
          const size = call.sizeOf(call.args[0]!);
          return { cost: readsTargetOnly(call)!.cost, size: { min: Math.floor(size.min / 4), max: size.max } };
        },
      }),
      plain('double_to_string', [DOUBLE], STRING, valueText),
      plain('duration_to_string', [DURATION], STRING, valueText),
      plain('int64_to_string', [INT], STRING, valueText),
      plain('timestamp_to_string', [TIMESTAMP], STRING, valueText),
      plain('uint64_to_string', [UINT], STRING, valueText),
    ],
  },
  {
    name: 'timestamp',
    overloads: [
      plain('timestamp_to_timestamp', [TIMESTAMP], TIMESTAMP, same),
      plain('int64_to_timestamp', [INT], TIMESTAMP, (value: number | bigint) => timestamp(BigInt(value) * SECOND)),
      plain(
        'string_to_timestamp',
        [STRING],
        TIMESTAMP,
        (text: string) => parseTimestamp(text) ?? conversionError(STRING, TIMESTAMP),
        { costBefore: scansFirst },
      ),
    ],
  },
  {
    name: 'duration',
    overloads: [
      plain('duration_to_duration', [DURATION], DURATION, same),
      plain('int64_to_duration', [INT], DURATION, (value: number | bigint) => duration(BigInt(value))),
      plain(
        'string_to_duration',
        [STRING],
        DURATION,
        (text: string) => parseDuration(text) ?? conversionError(STRING, DURATION),
      ),
    ],
  },
];

function conversionError(from: Type, to: Type): never {
  return fail(`type conversion error from '${from.name}' to '${to.name}'`);
}

/** Texts out of range are conversion errors, not overflows. */
function inRange(value: bigint, to: Type, make: (value: bigint) => Value): Value {
  const [min, max] = to === INT ? [-(2n ** 63n), 2n ** 63n - 1n] : [0n, 2n ** 64n - 1n];
  return value < min || value > max ? conversionError(STRING, to) : make(value);
}

function parseBool(text: string): boolean {
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text)) return true;
  if (['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(text)) return false;
  return conversionError(STRING, BOOL);
}

function parseFloat64(text: string): Value {
  const special = /^([-+]?)(?:(inf|infinity)|nan)$/i.exec(text);
  if (special !== null) {
    if (special[2] === undefined) return special[1] === '' ? Number.NaN : conversionError(STRING, DOUBLE);
    return special[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }
  if (!/^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i.test(text)) return conversionError(STRING, DOUBLE);
  const value = Number(text);
  return Number.isFinite(value) ? double(value) : conversionError(STRING, DOUBLE);
}

function truncated(value: number): Value {
  if (!(value > -(2 ** 63) && value < 2 ** 63)) return fail('integer overflow');
  return int(BigInt(Math.trunc(value)));
}

function truncatedUint(value: number): Value {
  if (!(value >= 0 && value < 2 ** 64)) return fail('unsigned integer overflow');
  return uint(BigInt(Math.trunc(value)));
}

/** Operators. Those that the evaluator implements itself are declared here for the checker. */
import { copyingCost, traversalCost } from '../cost/constants.ts';
import type { FunctionDeclaration, Overload } from '../library.ts';
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  INT,
  listType,
  mapType,
  optionalType,
  STRING,
  TIMESTAMP,
  type Type,
  typeParameter,
  UINT,
} from '../types/type.ts';
import { noSuchOverload } from '../values/failure.ts';
import {
  addInts,
  addUints,
  compareNumeric,
  divideInts,
  divideUints,
  double,
  doubleValue,
  moduloInts,
  moduloUints,
  multiplyInts,
  multiplyUints,
  negateInt,
  numericValue,
  subtractInts,
  subtractUints,
} from '../values/numbers.ts';
import { costSizeOf } from '../values/size.ts';
import { duration, timestamp } from '../values/time.ts';
import type { Duration, Timestamp, Value } from '../values/value.ts';
import { plain } from './declare.ts';

const T = typeParameter('T');
const K = typeParameter('K');
const V = typeParameter('V');

/** The evaluator does not call these. */
function builtIn(): never {
  return noSuchOverload();
}

export const OPERATORS: readonly FunctionDeclaration[] = [
  { name: '_&&_', overloads: [plain('logical_and', [BOOL, BOOL], BOOL, builtIn)] },
  { name: '_||_', overloads: [plain('logical_or', [BOOL, BOOL], BOOL, builtIn)] },
  { name: '_?_:_', overloads: [plain('conditional', [BOOL, T, T], T, builtIn)] },
  { name: '!_', overloads: [plain('logical_not', [BOOL], BOOL, (value: boolean) => !value)] },
  { name: '@not_strictly_false', overloads: [plain('not_strictly_false', [BOOL], BOOL, builtIn)] },
  { name: '_==_', overloads: [plain('equals', [T, T], BOOL, builtIn)] },
  { name: '_!=_', overloads: [plain('not_equals', [T, T], BOOL, builtIn)] },
  {
    name: '@in',
    overloads: [plain('in_list', [T, listType(T)], BOOL, builtIn), plain('in_map', [K, mapType(K, V)], BOOL, builtIn)],
  },
  {
    name: '_[_]',
    overloads: [
      plain('index_list', [listType(T), INT], T, builtIn),
      plain('index_map', [mapType(K, V), K], V, builtIn),
      plain('optional_list_index_value', [optionalType(listType(T)), INT], optionalType(T), builtIn),
      plain('optional_map_index_value', [optionalType(mapType(K, V)), K], optionalType(V), builtIn),
    ],
  },
  {
    name: '-_',
    overloads: [
      plain('negate_int64', [INT], INT, negateInt),
      plain('negate_double', [DOUBLE], DOUBLE, (value: Value) => double(-doubleValue(value))),
    ],
  },
  {
    name: '_+_',
    overloads: [
      plain('add_int64', [INT, INT], INT, addInts),
      plain('add_uint64', [UINT, UINT], UINT, addUints),
      plain('add_double', [DOUBLE, DOUBLE], DOUBLE, (a: Value, b: Value) => double(doubleValue(a) + doubleValue(b))),
      plain('add_string', [STRING, STRING], STRING, (a: string, b: string) => a + b, { costBefore: readsBoth }),
      plain('add_bytes', [BYTES, BYTES], BYTES, concatBytes, { costBefore: readsBoth }),
      plain('add_list', [listType(T), listType(T)], listType(T), (a: Value[], b: Value[]) => a.concat(b), {
        costBefore: ([a, b]) => 1 + copyingCost(costSizeOf(a!) + costSizeOf(b!)),
      }),
      plain('add_duration_duration', [DURATION, DURATION], DURATION, addDurations),
      plain('add_timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP, addToTimestamp),
      plain('add_duration_timestamp', [DURATION, TIMESTAMP], TIMESTAMP, (a: Duration, b: Timestamp) =>
        addToTimestamp(b, a),
      ),
    ],
  },
  {
    name: '_-_',
    overloads: [
      plain('subtract_int64', [INT, INT], INT, subtractInts),
      plain('subtract_uint64', [UINT, UINT], UINT, subtractUints),
      plain('subtract_double', [DOUBLE, DOUBLE], DOUBLE, (a: Value, b: Value) =>
        double(doubleValue(a) - doubleValue(b)),
      ),
      plain('subtract_duration_duration', [DURATION, DURATION], DURATION, (a: Duration, b: Duration) =>
        duration(a.nanoseconds - b.nanoseconds),
      ),
      plain('subtract_timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP, (a: Timestamp, b: Duration) =>
        timestamp(a.nanoseconds - b.nanoseconds),
      ),
      plain('subtract_timestamp_timestamp', [TIMESTAMP, TIMESTAMP], DURATION, (a: Timestamp, b: Timestamp) =>
        duration(a.nanoseconds - b.nanoseconds),
      ),
    ],
  },
  {
    name: '_*_',
    overloads: [
      plain('multiply_int64', [INT, INT], INT, multiplyInts),
      plain('multiply_uint64', [UINT, UINT], UINT, multiplyUints),
      plain('multiply_double', [DOUBLE, DOUBLE], DOUBLE, (a: Value, b: Value) =>
        double(doubleValue(a) * doubleValue(b)),
      ),
    ],
  },
  {
    name: '_/_',
    overloads: [
      plain('divide_int64', [INT, INT], INT, divideInts),
      plain('divide_uint64', [UINT, UINT], UINT, divideUints),
      plain('divide_double', [DOUBLE, DOUBLE], DOUBLE, (a: Value, b: Value) => double(doubleValue(a) / doubleValue(b))),
    ],
  },
  {
    name: '_%_',
    overloads: [
      plain('modulo_int64', [INT, INT], INT, moduloInts),
      plain('modulo_uint64', [UINT, UINT], UINT, moduloUints),
    ],
  },
  comparison('_<_', 'less', (order) => order < 0),
  comparison('_<=_', 'less_equals', (order) => order <= 0),
  comparison('_>_', 'greater', (order) => order > 0),
  comparison('_>=_', 'greater_equals', (order) => order >= 0),
];

function readsBoth([a, b]: readonly Value[]): number {
  return traversalCost(costSizeOf(a!) + costSizeOf(b!));
}

function readsShorter([a, b]: readonly Value[]): number {
  return traversalCost(Math.min(costSizeOf(a!), costSizeOf(b!)));
}

function concatBytes(a: Uint8Array, b: Uint8Array): Uint8Array {
  return new Uint8Array(Buffer.concat([a, b]));
}

function addDurations(a: Duration, b: Duration): Duration {
  return duration(a.nanoseconds + b.nanoseconds);
}

function addToTimestamp(a: Timestamp, b: Duration): Timestamp {
  return timestamp(a.nanoseconds + b.nanoseconds);
}

/** Declares a comparison for all ordered types, and for numbers of different types. */
function comparison(name: string, id: string, holds: (order: number) => boolean): FunctionDeclaration {
  const numbers = (a: Value, b: Value) => {
    const order = compareNumeric(numericValue(a)!, numericValue(b)!);
    return order !== undefined && holds(order);
  };
  const times = (a: Timestamp | Duration, b: Timestamp | Duration) =>
    holds(compareNumeric(a.nanoseconds, b.nanoseconds)!);
  const numeric: readonly [string, Type][] = [
    ['int64', INT],
    ['uint64', UINT],
    ['double', DOUBLE],
  ];
  const overloads: Overload[] = [plain(`${id}_bool`, [BOOL, BOOL], BOOL, (a, b) => holds(Number(a) - Number(b)))];
  for (const [left, a] of numeric) {
    for (const [right, b] of numeric) {
      overloads.push(plain(left === right ? `${id}_${left}` : `${id}_${left}_${right}`, [a, b], BOOL, numbers));
    }
  }
  return {
    name,
    overloads: [
      ...overloads,
      plain(`${id}_string`, [STRING, STRING], BOOL, (a, b) => holds(compareStrings(a, b)), {
        costBefore: readsShorter,
      }),
      plain(`${id}_bytes`, [BYTES, BYTES], BOOL, (a, b) => holds(Buffer.compare(a, b)), { costBefore: readsShorter }),
      plain(`${id}_timestamp`, [TIMESTAMP, TIMESTAMP], BOOL, times),
      plain(`${id}_duration`, [DURATION, DURATION], BOOL, times),
    ],
  };
}

/** Compares by code points, as Go compares UTF-8; JavaScript's `<` compares UTF-16 units. */
export function compareStrings(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    const isSurrogate = (x & 0xf800) === 0xd800 || (y & 0xf800) === 0xd800;
    return isSurrogate ? a.codePointAt(i)! - b.codePointAt(i)! : x - y;
  }
  return a.length - b.length;
}

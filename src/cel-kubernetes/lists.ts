/** `list.sum()`, `list.isSorted()` and others on whole lists. */

import { member } from '../cel/libraries/declare.ts';
import { compareStrings } from '../cel/libraries/operators.ts';
import type { FunctionDeclaration, Library } from '../cel/library.ts';
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  INT,
  listType,
  STRING,
  TIMESTAMP,
  type Type,
  typeParameter,
  UINT,
} from '../cel/types/type.ts';
import { equal } from '../cel/values/equality.ts';
import { fail, noSuchOverload } from '../cel/values/failure.ts';
import {
  addInts,
  addUints,
  compareNumeric,
  double,
  doubleValue,
  isInt,
  numericValue,
  uint,
} from '../cel/values/numbers.ts';
import { duration } from '../cel/values/time.ts';
import { Duration, Timestamp, Uint, type Value } from '../cel/values/value.ts';
import { LISTING } from './costs.ts';

const COMPARABLE: Readonly<Record<string, Type>> = {
  int: INT,
  uint: UINT,
  double: DOUBLE,
  bool: BOOL,
  duration: DURATION,
  timestamp: TIMESTAMP,
  string: STRING,
  bytes: BYTES,
};

/** The order of two values of one type. */
function compare(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  const isTime = (a instanceof Duration && b instanceof Duration) || (a instanceof Timestamp && b instanceof Timestamp);
  if (isTime) return a.nanoseconds < b.nanoseconds ? -1 : a.nanoseconds > b.nanoseconds ? 1 : 0;
  const [x, y] = [numericValue(a), numericValue(b)];
  if (x === undefined || y === undefined) return noSuchOverload();
  return compareNumeric(x, y) ?? 0;
}

const isSorted = (list: readonly Value[]) => list.every((item, i) => i === 0 || compare(list[i - 1]!, item) <= 0);

/** The first item that no other one exceeds, in the direction of `sign`. */
function extreme(list: readonly Value[], name: string, sign: 1 | -1): Value {
  if (list.length === 0) return fail(`${name} called on empty list`);
  return list.reduce((best, item) => (compare(item, best) * sign > 0 ? item : best));
}

const SUMS: Readonly<Record<string, (list: readonly Value[]) => Value>> = {
  int: (list) => list.reduce<number | bigint>((sum, item) => (isInt(item) ? addInts(sum, item) : noSuchOverload()), 0),
  uint: (list) =>
    list.reduce<Uint>((sum, item) => (item instanceof Uint ? addUints(sum, item) : noSuchOverload()), uint(0n)),
  double: (list) => double(list.reduce<number>((sum, item) => sum + doubleValue(item), 0)),
  duration: (list) =>
    duration(
      list.reduce<bigint>((sum, item) => (item instanceof Duration ? sum + item.nanoseconds : noSuchOverload()), 0n),
    ),
};

const forTypes = (
  types: readonly string[],
  overload: (name: string, type: Type) => FunctionDeclaration['overloads'][number],
) => types.map((name) => overload(name, COMPARABLE[name]!));

const ITEM = typeParameter('A');

export const LIST_LIBRARY: Library = {
  name: 'kubernetes.lists',
  functions: [
    {
      name: 'isSorted',
      overloads: forTypes(Object.keys(COMPARABLE), (name, type) =>
        member(`list_${name}_is_sorted_bool`, [listType(type)], BOOL, isSorted, LISTING),
      ),
    },
    {
      name: 'sum',
      overloads: forTypes(Object.keys(SUMS), (name, type) =>
        member(`list_${name}_sum_${name}`, [listType(type)], type, SUMS[name]!, LISTING),
      ),
    },
    ...(['max', 'min'] as const).map((which) => ({
      name: which,
      overloads: forTypes(Object.keys(COMPARABLE), (name, type) =>
        member(
          `list_${name}_${which}_${name}`,
          [listType(type)],
          type,
          (list) => extreme(list, which, which === 'max' ? 1 : -1),
          LISTING,
        ),
      ),
    })),
    {
      name: 'indexOf',
      overloads: [
        member(
          'list_a_index_of_int',
          [listType(ITEM), ITEM],
          INT,
          (list: readonly Value[], item: Value) => list.findIndex((each) => equal(each, item)),
          LISTING,
        ),
      ],
    },
    {
      name: 'lastIndexOf',
      overloads: [
        member(
          'list_a_last_index_of_int',
          [listType(ITEM), ITEM],
          INT,
          (list: readonly Value[], item: Value) => list.findLastIndex((each) => equal(each, item)),
          LISTING,
        ),
      ],
    },
  ],
};

/** cel-go's extension of lists, in the version that Kubernetes has. */
import { comparisonCost, copyingCost, LIST_COST, STRING_TRAVERSAL_FACTOR } from '../cost/constants.ts';
import { makesList } from '../cost/estimates.ts';
import { exactly, multiplyRanges } from '../cost/range.ts';
import type { CallNode, CostNode, Library, MacroCall, Overload } from '../library.ts';
import { builder, simpleName } from '../syntax/build.ts';
import type { Expression } from '../syntax/expression.ts';
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listType,
  STRING,
  TIMESTAMP,
  type Type,
  typeParameter,
  UINT,
} from '../types/type.ts';
import { equal } from '../values/equality.ts';
import { fail } from '../values/failure.ts';
import { compareNumeric, numericValue } from '../values/numbers.ts';
import { costSizeOf, valuesInside } from '../values/size.ts';
import { typeOf } from '../values/type-of.ts';
import { Duration, Timestamp, type Value } from '../values/value.ts';
import { member, plain } from './declare.ts';
import { listFold } from './macros.ts';
import { compareStrings } from './operators.ts';

const T = typeParameter('T');
const LIST = listType(T);
const COMPARABLE: readonly Type[] = [INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES];
type Index = number | bigint;

export const LIST_LIBRARY: Library = {
  name: 'lists',
  macros: [{ name: 'sortBy', member: true, arity: 2, expand: sortBy }],
  functions: [
    {
      name: 'slice',
      overloads: [
        member('list_slice', [LIST, INT, INT], LIST, slice, {
          costBefore: ([list, start, end]) =>
            listCost(Math.max(0, Math.min(costSizeOf(list!), Number(end)) - Number(start))),
          estimate: (call) => {
            const end = literalInt(call.args[1]!) ?? call.sizeOf(call.target!).max;
            return makesList(1, exactly(Math.max(0, end - (literalInt(call.args[0]!) ?? 0))));
          },
        }),
      ],
    },
    {
      name: 'flatten',
      overloads: [
        member('list_flatten', [listType(LIST)], LIST, (list: Value[]) => flatten(list, 1), {
          costBefore: ([list]) => flattenCost(list as Value[], 1),
          estimate: (call) => makesList(1, call.sizeOf(call.target!)),
        }),
        member('list_flatten_int', [listType(DYN), INT], listType(DYN), flattenTo, {
          costBefore: ([list, depth]) => flattenCost(list as Value[], Number(depth)),
          estimate: (call) => makesList(literalInt(call.args[0]!) ?? 2 ** 64, call.sizeOf(call.target!)),
        }),
      ],
    },
    {
      name: 'lists.range',
      overloads: [
        plain('lists_range', [INT], listType(INT), range, {
          costBefore: ([length]) => listCost(Math.max(0, Number(length))),
          estimate: (call) => makesList(1, exactly(literalInt(call.args[0]!) ?? 2 ** 64)),
        }),
      ],
    },
    {
      name: 'reverse',
      overloads: [
        member('list_reverse', [LIST], LIST, (list: readonly Value[]) => list.toReversed(), {
          costBefore: ([list]) => listCost(costSizeOf(list!)),
          estimate: (call) => makesList(1, call.sizeOf(call.target!)),
        }),
      ],
    },
    {
      name: 'distinct',
      overloads: [
        member('list_distinct', [LIST], LIST, distinct, {
          costBefore: ([list]) => comparingCost(list as Value[]),
          estimate: (call) => comparingEstimate(call, call.target!, T),
        }),
      ],
    },
    { name: 'sort', overloads: COMPARABLE.map((type) => sortOverload(type)) },
    { name: '@sortByAssociatedKeys', overloads: COMPARABLE.map((type) => sortByOverload(type)) },
  ],
};

function listCost(items: number): number {
  return Math.floor(items) + 1 + LIST_COST;
}

/** cel-go counts only the items of the outer list, however long the inner ones are. */
function flattenCost(list: readonly Value[], depth: number): number {
  let items = 0;
  const count = (part: readonly Value[], left: number): boolean => {
    items += part.length;
    if (items > MAX_ITEMS) return false;
    return left <= 0 || part.every((item) => !Array.isArray(item) || count(item, left - 1));
  };
  const isBounded = count(list, depth);
  return listCost(list.length * Math.max(0, depth)) + (isBounded ? copyingCost(items) : Number.POSITIVE_INFINITY);
}

/** Cost of a function that compares all items of a list with each other. cel-go does not count their contents. */
function comparingCost(list: readonly Value[]): number {
  const isText = typeof list[0] === 'string' || list[0] instanceof Uint8Array;
  const pairs = list.length * list.length;
  const inside = list.length * valuesInside(list as Value);
  return listCost(pairs * (isText ? 2 + STRING_TRAVERSAL_FACTOR : 2)) + comparisonCost(inside);
}

function comparingEstimate(call: CallNode, list: CostNode, element: Type) {
  const size = call.sizeOf(list);
  const factor = element === STRING || element === BYTES ? 2 + STRING_TRAVERSAL_FACTOR : 2;
  return makesList(factor, multiplyRanges(size, size));
}

function literalInt({ literal }: CostNode): number | undefined {
  return typeof literal === 'number' ? Math.max(0, literal) : undefined;
}

function sortOverload(type: Type): Overload {
  return member(`list_${type.name}_sort`, [listType(type)], listType(type), (list: Value[]) => sorted(list, list), {
    costBefore: ([list]) => comparingCost(list as Value[]),
    estimate: (call) => comparingEstimate(call, call.target!, type),
  });
}

function sortByOverload(type: Type): Overload {
  return member(`list_${type.name}_sortByAssociatedKeys`, [LIST, listType(type)], LIST, sorted, {
    costBefore: ([, keys]) => comparingCost(keys as Value[]),
    estimate: (call) => comparingEstimate(call, call.args[0]!, type),
  });
}

function slice(list: readonly Value[], start: Index, end: Index): Value[] {
  if (start < 0 || end < 0) return fail(`cannot slice(${start}, ${end}), negative indexes not supported`);
  if (start > end) {
    return fail(`cannot slice(${start}, ${end}), start index must be less than or equal to end index`);
  }
  if (list.length < end) return fail(`cannot slice(${start}, ${end}), list is length ${list.length}`);
  return list.slice(Number(start), Number(end));
}

/** Maximum number of items in a list: no list may grow beyond what a budget can pay for. */
const MAX_ITEMS = 1_000_000;

function flattenTo(list: readonly Value[], depth: Index): Value[] {
  if (depth < 0) return fail('level must be non-negative');
  return flatten(list, Number(depth));
}

function flatten(list: readonly Value[], depth: number): Value[] {
  const items: Value[] = [];
  const add = (part: readonly Value[], left: number): void => {
    for (const item of part) {
      if (Array.isArray(item) && left > 0) add(item, left - 1);
      else if (items.push(item) > MAX_ITEMS) fail(`list exceeds ${MAX_ITEMS} elements`);
    }
  };
  add(list, depth);
  return items;
}

function range(length: Index): Value[] {
  if (length > MAX_ITEMS) return fail(`list exceeds ${MAX_ITEMS} elements`);
  return Array.from({ length: Math.max(0, Number(length)) }, (_, i) => i);
}

function distinct(list: readonly Value[]): Value[] {
  const seen: Value[] = [];
  const texts = new Set<string>();
  for (const item of list) {
    if (typeof item === 'string' ? texts.has(item) : seen.some((other) => equal(item, other))) continue;
    seen.push(item);
    if (typeof item === 'string') texts.add(item);
  }
  return seen;
}

function sorted(list: readonly Value[], keys: readonly Value[]): Value[] {
  if (list.length !== keys.length) {
    return fail(
      `@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got ${list.length} and ${keys.length} elements respectively`,
    );
  }
  const [first] = keys;
  if (first === undefined) return [];
  const { kind } = typeOf(first);
  if (keys.some((key) => typeOf(key).kind !== kind)) return fail('list elements must have the same type');
  const order = keys.map((_, i) => i).sort((a, b) => compare(keys[a]!, keys[b]!));
  return order.map((i) => list[i]!);
}

function compare(a: Value, b: Value): number {
  if (typeof a === 'string') return compareStrings(a, b as string);
  if (typeof a === 'boolean') return Number(a) - Number(b);
  if (a instanceof Uint8Array) return Buffer.compare(a, b as Uint8Array);
  if (a instanceof Timestamp || a instanceof Duration) {
    return compareNumeric(a.nanoseconds, (b as Timestamp | Duration).nanoseconds)!;
  }
  const number = numericValue(a);
  if (number === undefined) return fail('list elements must be comparable');
  return compareNumeric(number, numericValue(b)!) ?? 0;
}

const SORTED_LIST = '@__sortBy_input__';

/** `list.sortBy(v, key)`: the list is evaluated once, then mapped to its keys. */
function sortBy(call: MacroCall): Expression {
  const variable = simpleName(call.args[0]!, call, 'argument is not an identifier');
  if (typeof variable !== 'string') return variable;
  const make = builder(call);
  const keys = listFold({ ...call, target: make.identifier(SORTED_LIST) }, [variable], undefined, call.args[1]!);
  return make.fold({
    range: make.list(),
    variable: '#unused',
    variable2: undefined,
    accumulator: SORTED_LIST,
    initial: call.target!,
    condition: make.literal(false),
    step: make.identifier(SORTED_LIST),
    result: make.memberCall(make.identifier(SORTED_LIST), '@sortByAssociatedKeys', keys),
  });
}

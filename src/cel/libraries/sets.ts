/** cel-go's extension of sets: lists compared as sets. */
import { comparisonCost } from '../cost/constants.ts';
import { addRanges, exactly, multiplyRanges, scaleRange } from '../cost/range.ts';
import type { Library, Overload } from '../library.ts';
import { BOOL, listType, typeParameter } from '../types/type.ts';
import { equal } from '../values/equality.ts';
import { costSizeOf, valuesInside } from '../values/size.ts';
import type { Value } from '../values/value.ts';
import { plain } from './declare.ts';

const LIST = listType(typeParameter('T'));

export const SET_LIBRARY: Library = {
  name: 'sets',
  functions: [
    set('contains', 1, contains),
    set('equivalent', 2, (a, b) => contains(a, b) && contains(b, a)),
    set('intersects', 1, (a, b) => a.some((item) => has(b, item))),
  ],
};

type Compare = (a: readonly Value[], b: readonly Value[]) => boolean;

function set(name: string, factor: number, compare: Compare) {
  const costs: Pick<Overload, 'costBefore' | 'estimate'> = {
    // cel-go does not count the contents of items.
    costBefore: ([a, b]) =>
      1 +
      Math.floor(costSizeOf(a!) * costSizeOf(b!) * factor) +
      comparisonCost(costSizeOf(a!) * valuesInside(b!) * factor),
    estimate: ({ args, sizeOf }) => {
      const product = multiplyRanges(sizeOf(args[0]!), sizeOf(args[1]!));
      return { cost: addRanges(scaleRange(product, factor), exactly(1)) };
    },
  };
  return { name: `sets.${name}`, overloads: [plain(`list_sets_${name}_list`, [LIST, LIST], BOOL, compare, costs)] };
}

function has(list: readonly Value[], item: Value): boolean {
  return list.some((other) => equal(item, other));
}

function contains(list: readonly Value[], part: readonly Value[]): boolean {
  return part.every((item) => has(list, item));
}

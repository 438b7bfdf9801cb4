/** Short forms for declarations. */
import { bulkCost, traversalCost } from '../cost/constants.ts';
import type { Implementation, Overload } from '../library.ts';
import type { Type } from '../types/type.ts';
import { costSizeOf } from '../values/size.ts';
import type { Value } from '../values/value.ts';

type More = Pick<Overload, 'cost' | 'costBefore' | 'estimate'>;

/** A function that is called as `name(…)`. */
export function plain(
  id: string,
  parameters: readonly Type[],
  result: Type,
  call: Implementation,
  more: More = {},
): Overload {
  return { id, parameters, result, call, ...more };
}

/** A function that is called as `target.name(…)`. */
export function member(
  id: string,
  parameters: readonly Type[],
  result: Type,
  call: Implementation,
  more: More = {},
): Overload {
  return { id, member: true, parameters, result, call, ...more };
}

/** The cost of a function that reads its first argument once. */
export function readsFirst([first]: readonly Value[]): number {
  return traversalCost(costSizeOf(first!));
}

/** Returns the cost of a function that cel-go counts as one unit: only a long text costs more. */
export function scansFirst([first]: readonly Value[]): number {
  return 1 + bulkCost((first as string).length);
}

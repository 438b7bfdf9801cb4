/** Costs of the functions of Kubernetes, before they run and afterwards. */
import { bulkCost, REGEX_LENGTH_FACTOR, STRING_TRAVERSAL_FACTOR, traversalCost } from '../cel/cost/constants.ts';
import { addRanges, exactly, multiplyRanges, type Range, scaleRange } from '../cel/cost/range.ts';
import type { CallEstimate, CallNode, CostNode, Overload } from '../cel/library.ts';
import { isMap, mapGet, mapKeys } from '../cel/values/map.ts';
import { costSizeOf } from '../cel/values/size.ts';
import type { Value } from '../cel/values/value.ts';

type Costs = Pick<Overload, 'costBefore' | 'estimate'>;

/** The target and the arguments in the order of the parameters. */
export const nodesOf = ({ target, args }: CallNode): readonly CostNode[] => (target ? [target, ...args] : args);

/** Accessors. */
export const NOMINAL: Costs = { costBefore: () => 1, estimate: () => ({ cost: exactly(1) }) };

/** A value of the libraries that functions go through as a whole. */
interface Sized {
  readonly size: number;
}

/** Accessors and comparisons of values that may be long, which Kubernetes counts as one unit. */
export const SIZED: Costs = {
  ...NOMINAL,
  costBefore: (values) => values.reduce<number>((sum, value) => sum + bulkCost((value as unknown as Sized).size), 1),
};

/** Functions that read a string `times` times. */
export function reading(times = 1): Costs {
  return {
    costBefore: ([text]) => Math.ceil(costSizeOf(text!) * times * STRING_TRAVERSAL_FACTOR),
    estimate: (call) => ({ cost: scaleRange(call.sizeOf(nodesOf(call)[0]!), times * STRING_TRAVERSAL_FACTOR) }),
  };
}

/** Functions that match a string with an expression. */
export const MATCHING: Costs = {
  costBefore: ([text, expression]) =>
    Math.ceil((1 + costSizeOf(text!)) * STRING_TRAVERSAL_FACTOR) *
    Math.ceil(costSizeOf(expression!) * REGEX_LENGTH_FACTOR),
  estimate: (call): CallEstimate => {
    const [text, expression] = nodesOf(call) as [CostNode, CostNode];
    const size = call.sizeOf(text);
    const texts = scaleRange(addRanges(size, exactly(1)), STRING_TRAVERSAL_FACTOR);
    const expressions = scaleRange(call.sizeOf(expression), REGEX_LENGTH_FACTOR);
    return { cost: multiplyRanges(texts, expressions), size: { min: 0, max: size.max } };
  },
};

/** Functions that look at every item of a list. */
export const LISTING: Costs = {
  costBefore: ([list]) => treeCost(list!),
  estimate: (call): CallEstimate => {
    const [list] = nodesOf(call) as [CostNode];
    const item = call.elementOf(list);
    const size = call.sizeOf(list);
    if (!item) return { cost: scaleRange(size, STRING_TRAVERSAL_FACTOR) };
    const isLong = item.type.kind === 'string' || item.type.kind === 'bytes';
    const each: Range = isLong
      ? addRanges(exactly(1), scaleRange(call.sizeOf(item), STRING_TRAVERSAL_FACTOR))
      : exactly(1);
    return { cost: multiplyRanges(size, each) };
  },
};

/** Limit above that of an evaluation: a list may hold the same long value many times. */
const MAX_TREE_COST = 2_000_000;

/** The cost of reading a value to its depths. */
function treeCost(value: Value): number {
  let cost = 0;
  let values = 0;
  const add = (part: Value): boolean => {
    if (++values > MAX_TREE_COST) return false;
    if (Array.isArray(part)) return (part as readonly Value[]).every(add);
    if (isMap(part)) return mapKeys(part).every((key) => add(key) && add(mapGet(part, key)!));
    const isText = typeof part === 'string' || part instanceof Uint8Array;
    cost += isText ? Math.floor(costSizeOf(part) * STRING_TRAVERSAL_FACTOR) : 1;
    return cost <= MAX_TREE_COST;
  };
  return add(value) ? cost : Number.POSITIVE_INFINITY;
}

const ADDRESS: Range = { min: 4, max: 16 };

/** Costs of comparing networks with possible members; a string is parsed first. */
export function containing({ network, text }: { readonly network: boolean; readonly text: boolean }): Costs {
  const comparing = addRanges(
    scaleRange(addRanges(ADDRESS, ADDRESS), STRING_TRAVERSAL_FACTOR),
    network ? addRanges(scaleRange(ADDRESS, STRING_TRAVERSAL_FACTOR), exactly(1)) : exactly(0),
  );
  return {
    costBefore: ([cidr, other]) => {
      const size = addressBytesOf(cidr!);
      const masking = network ? traversalCost(size) + 1 : 0;
      return traversalCost(size * 2) + masking + (text ? traversalCost(costSizeOf(other!)) : 0);
    },
    estimate: (call) => {
      const parsing = text ? scaleRange(call.sizeOf(nodesOf(call)[1]!), STRING_TRAVERSAL_FACTOR) : exactly(0);
      return { cost: addRanges(comparing, parsing) };
    },
  };
}

/** A value of the libraries that has a size, as the costs see it. */
export interface Addressed {
  readonly bytes: number;
}

function addressBytesOf(value: Value): number {
  return (value as unknown as Partial<Addressed>).bytes ?? ADDRESS.max;
}

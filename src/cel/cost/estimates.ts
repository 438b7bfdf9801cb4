/** Estimates that several functions share. */
import type { CallEstimate, CallNode, CostNode } from '../library.ts';
import { REGEX_LENGTH_FACTOR, STRING_TRAVERSAL_FACTOR } from './constants.ts';
import { addRanges, exactly, multiplyRanges, type Range, scaleRange } from './range.ts';

type Estimate = (call: CallNode) => CallEstimate | undefined;

/** The target, or the first argument of a function without one. */
function subject({ target, args }: CallNode): CostNode | undefined {
  return target ?? args[0];
}

/** Estimates a function that reads its target `times` times, and whose result is as long as the target. */
export function readsTarget(times: number): Estimate {
  return (call) => {
    const node = subject(call);
    if (node === undefined) return undefined;
    const size = call.sizeOf(node);
    return { cost: scaleRange(size, times * STRING_TRAVERSAL_FACTOR), size };
  };
}

/** A function that reads its target once, and whose result has no size. */
export const readsTargetOnly: Estimate = (call) => {
  const node = subject(call);
  return node === undefined ? undefined : { cost: scaleRange(call.sizeOf(node), STRING_TRAVERSAL_FACTOR) };
};

/** A function that reads its argument, such as `startsWith`. */
export const readsArgument: Estimate = (call) => {
  const node = call.args[0];
  return node === undefined ? undefined : { cost: scaleRange(call.sizeOf(node), STRING_TRAVERSAL_FACTOR) };
};

/** A search that compares each character of the target with each of the argument. */
export const searchesTarget: Estimate = (call) => {
  const [needle] = call.args;
  if (call.target === undefined || needle === undefined) return undefined;
  const haystack = scaleRange(call.sizeOf(call.target), STRING_TRAVERSAL_FACTOR);
  return { cost: multiplyRanges(haystack, scaleRange(call.sizeOf(needle), STRING_TRAVERSAL_FACTOR)) };
};

/** Returns the cost of matching texts with regular expressions of these sizes. */
export function matchingCost(text: Range, expression: Range): Range {
  const textCost = scaleRange(addRanges(text, exactly(1)), STRING_TRAVERSAL_FACTOR);
  return multiplyRanges(textCost, scaleRange(expression, REGEX_LENGTH_FACTOR));
}

/** A function that makes a list. */
export function makesList(factor: number, size: Range): CallEstimate {
  return { cost: addRanges(scaleRange(size, factor), exactly(11)), size };
}

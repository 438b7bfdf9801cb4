/** Folds over lists and maps: what the macros `all`, `exists`, `map`, `filter` and so on become. */
import { LIST_COST, SELECT_COST } from '../cost/constants.ts';
import type { Call, Comprehension, Expression } from '../syntax/expression.ts';
import { Failure, fail, noSuchOverload } from '../values/failure.ts';
import { isMap, MapValue, mapGet, mapKeys } from '../values/map.ts';
import { typeNameOf } from '../values/type-of.ts';
import type { Value } from '../values/value.ts';
import { coercionTo } from './coercion.ts';
import type { Compiler } from './compiler.ts';
import { charge, type Evaluator, type Frame } from './frame.ts';

/** What a fold goes through, and where it puts each element. */
type Iterate = (frame: Frame, step: (hasNext: boolean) => boolean) => void;

export function compileComprehension(fold: Comprehension, compiler: Compiler): Evaluator {
  const range = compiler.compile(fold.range);
  const initial = isEmptyMap(fold.initial) ? () => new MapValue() : compiler.compile(fold.initial);
  const accumulator = compiler.declare(fold.accumulator);
  const first = compiler.declare(fold.variable);
  const second = fold.variable2 === undefined ? undefined : compiler.declare(fold.variable2);
  const iterate = iteration(fold, compiler, range, { first, second });
  const quantifier = quantifierOf(fold);
  const appended = appendedBy(fold);
  const variables = second === undefined ? 1 : 2;
  if (quantifier !== undefined) {
    const predicate = compiler.compile(quantifier.predicate);
    compiler.leave(variables + 1);
    return quantify(iterate, predicate, quantifier.deciding);
  }
  if (appended !== undefined) {
    const filter = appended.filter === undefined ? undefined : compiler.compile(appended.filter);
    const item = compiler.compile(appended.item);
    compiler.leave(variables + 1);
    return collect(iterate, item, filter);
  }
  const condition = compiler.compile(fold.condition);
  const step = compiler.compile(fold.step);
  compiler.leave(variables);
  const result = compiler.compile(fold.result);
  compiler.leave(1);
  return (frame) => {
    frame.locals[accumulator] = initial(frame);
    iterate(frame, () => {
      if (condition(frame) === false) return false;
      frame.locals[accumulator] = step(frame);
      return true;
    });
    return result(frame);
  };
}

/** A map that the fold fills in place, so that each evaluation needs its own. */
function isEmptyMap(initial: Expression): boolean {
  return initial.kind === 'map' && initial.entries.length === 0;
}

function iteration(
  fold: Comprehension,
  compiler: Compiler,
  range: Evaluator,
  { first, second }: { readonly first: number; readonly second: number | undefined },
): Iterate {
  const type = compiler.checked.typeOf(fold.range);
  const itemType = type.parameters[type.kind === 'map' ? 1 : 0];
  const coerce = itemType === undefined ? undefined : coercionTo(itemType);
  return (frame, step) => {
    const values = range(frame);
    const { locals } = frame;
    if (Array.isArray(values)) {
      for (let i = 0; i < values.length; i++) {
        const item = coerce === undefined ? values[i] : coerce(values[i]);
        if (second === undefined) locals[first] = item;
        else {
          locals[first] = i;
          locals[second] = item;
        }
        if (!step(i + 1 < values.length)) return;
      }
      return;
    }
    if (!isMap(values)) return fail(`got '${typeNameOf(values)}', expected iterable type`);
    const keys = mapKeys(values);
    for (let i = 0; i < keys.length; i++) {
      locals[first] = keys[i];
      if (second !== undefined) {
        const value = mapGet(values, keys[i]!)!;
        locals[second] = coerce === undefined ? value : coerce(value);
      }
      if (!step(i + 1 < keys.length)) return;
    }
  };
}

/** The predicate of `all` and `exists`, by the shape of their expansion. */
function quantifierOf({
  initial,
  condition,
  step,
  result,
}: Comprehension): { readonly predicate: Expression; readonly deciding: boolean } | undefined {
  if (initial.kind !== 'literal' || typeof initial.value !== 'boolean' || step.kind !== 'call') return undefined;
  const deciding = !initial.value;
  const isQuantifier =
    condition.kind === 'call' &&
    condition.function === '@not_strictly_false' &&
    step.function === (deciding ? '_||_' : '_&&_') &&
    result.kind === 'identifier';
  return isQuantifier ? { predicate: step.args[1]!, deciding } : undefined;
}

/**
 * Goes on after errors, because a later element may decide. For each element, cel-go reads the accumulator twice and calls
 * @not_strictly_false, and for `exists` also `!`.
 */
function quantify(iterate: Iterate, predicate: Evaluator, deciding: boolean): Evaluator {
  const conditionCost = deciding ? 3 : 2;
  return (frame) => {
    let result: boolean | Failure = !deciding;
    iterate(frame, (hasNext) => {
      charge(frame, conditionCost + SELECT_COST);
      try {
        const value = predicate(frame);
        if (value === deciding) {
          result = deciding;
          if (hasNext) charge(frame, conditionCost);
          return false;
        }
        if (value !== !deciding) noSuchOverload();
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        if (typeof result === 'boolean') result = error;
      }
      return true;
    });
    charge(frame, SELECT_COST);
    // The type is widened, because assignments in the function above are not seen.
    const decided = result as boolean | Failure;
    if (decided instanceof Failure) throw decided;
    return decided;
  };
}

/** What a fold like `map` and `filter` appends to its list, and when. */
function appendedBy({
  accumulator,
  initial,
  condition,
  step,
  result,
}: Comprehension): { readonly item: Expression; readonly filter: Expression | undefined } | undefined {
  if (initial.kind !== 'list' || initial.items.length > 0 || step.kind !== 'call') return undefined;
  if (condition.kind !== 'literal' || condition.value !== true || result.kind !== 'identifier') return undefined;
  const isAccumulator = (part: Expression) => part.kind === 'identifier' && part.name === accumulator;
  const itemOf = (part: Expression | undefined): Expression | undefined => {
    if (part?.kind !== 'call' || part.function !== '_+_' || !isAccumulator(part.args[0]!)) return undefined;
    const list = part.args[1]!;
    return list.kind === 'list' && list.items.length === 1 && !list.items[0]!.optional
      ? list.items[0]!.value
      : undefined;
  };
  const item = itemOf(step);
  if (item !== undefined) return { item, filter: undefined };
  const { function: name, args }: Call = step;
  const filtered = name === '_?_:_' && isAccumulator(args[2]!) ? itemOf(args[1]) : undefined;
  return filtered === undefined ? undefined : { item: filtered, filter: args[0]! };
}

/** For each item, cel-go reads the accumulator, makes a list and concatenates the two. */
const APPEND_COST = SELECT_COST + LIST_COST + 1;

function collect(iterate: Iterate, item: Evaluator, filter: Evaluator | undefined): Evaluator {
  return (frame) => {
    const items: Value[] = [];
    iterate(frame, () => {
      if (filter !== undefined) {
        const keep = filter(frame);
        if (keep === false) return true;
        if (keep !== true) noSuchOverload();
      }
      items.push(item(frame));
      charge(frame, APPEND_COST);
      return true;
    });
    charge(frame, SELECT_COST);
    return items;
  };
}

/** Compiles folds over lists and maps, into which the macros `all`, `exists`, `map`, `filter` and so on expand. */
import { LIST_COST, SELECT_COST } from '../cost/constants.ts';
import type { Call, Comprehension, Expression } from '../syntax/expression.ts';
import { Failure, fail, noSuchOverload } from '../values/failure.ts';
import { isMap, MapValue, mapGet, mapKeys } from '../values/map.ts';
import { typeNameOf } from '../values/type-of.ts';
import type { Value } from '../values/value.ts';
import { coercionTo } from './coercion.ts';
import type { Compiler } from './compiler.ts';
import { charge, type Evaluator, type Frame } from './frame.ts';

/** Handling of a fold's elements. `State` is its accumulator, which is changed in place. */
interface Steps<State> {
  begin(frame: Frame): State;
  /** Takes the element that the variables hold; returns whether to go on. */
  step(frame: Frame, state: State, hasNext: boolean): boolean;
  end(frame: Frame, state: State): Value;
}

/** Values that a fold goes through. */
interface Range {
  readonly values: Value;
  /** The items of a list, or the keys of a map. */
  readonly elements: readonly Value[];
}

export function compileComprehension(fold: Comprehension, compiler: Compiler): Evaluator {
  const range = compiler.compile(fold.range);
  const initial = isEmptyMap(fold.initial) ? () => new MapValue() : compiler.compile(fold.initial);
  const accumulator = compiler.declare(fold.accumulator);
  const first = compiler.declare(fold.variable);
  const second = fold.variable2 === undefined ? undefined : compiler.declare(fold.variable2);
  const bind = binding(fold, compiler, { first, second });
  const quantifier = quantifierOf(fold);
  const appended = appendedBy(fold);
  const variables = second === undefined ? 1 : 2;
  if (quantifier !== undefined) {
    const predicate = compiler.compile(quantifier.predicate);
    compiler.leave(variables + 1);
    return folding(range, bind, quantify(predicate, quantifier.deciding));
  }
  if (appended !== undefined) {
    const filter = appended.filter === undefined ? undefined : compiler.compile(appended.filter);
    const item = compiler.compile(appended.item);
    compiler.leave(variables + 1);
    return folding(range, bind, collect(item, filter));
  }
  const condition = compiler.compile(fold.condition);
  const step = compiler.compile(fold.step);
  compiler.leave(variables);
  const result = compiler.compile(fold.result);
  compiler.leave(1);
  return folding<{ value: Value }>(range, bind, {
    begin: (frame) => ({ value: initial(frame) }),
    step(frame, state) {
      frame.locals[accumulator] = state.value;
      if (condition(frame) === false) return false;
      state.value = step(frame);
      return true;
    },
    end(frame, state) {
      frame.locals[accumulator] = state.value;
      return result(frame);
    },
  });
}

type Bind = (frame: Frame, range: Range, index: number) => void;

function folding<State>(range: Evaluator, bind: Bind, steps: Steps<State>): Evaluator {
  const inOneGo = (frame: Frame) => {
    const state = steps.begin(frame);
    const through = rangeOf(range(frame));
    const { length } = through.elements;
    for (let i = 0; i < length; i++) {
      bind(frame, through, i);
      if (!steps.step(frame, state, i + 1 < length)) break;
    }
    return steps.end(frame, state);
  };
  return (frame) => {
    const { progress } = frame;
    if (progress === undefined) return inOneGo(frame);
    return progress.once(frame, (part) => {
      if (part.state === undefined) {
        const state = steps.begin(frame);
        part.state = { state, through: rangeOf(range(frame)), next: 0 };
        progress.keep(frame, part);
      } else frame.cost = part.cost;
      const under = part.state as { readonly state: State; readonly through: Range; next: number };
      const { length } = under.through.elements;
      while (under.next < length) {
        bind(frame, under.through, under.next);
        const goesOn = steps.step(frame, under.state, under.next + 1 < length);
        under.next = goesOn ? under.next + 1 : length;
        progress.keep(frame, part);
      }
      return steps.end(frame, under.state);
    });
  };
}

function rangeOf(values: Value): Range {
  if (Array.isArray(values)) return { values, elements: values };
  if (!isMap(values)) return fail(`got '${typeNameOf(values)}', expected iterable type`);
  return { values, elements: mapKeys(values) };
}

/** A map that the fold fills in place, so that each evaluation needs its own. */
function isEmptyMap(initial: Expression): boolean {
  return initial.kind === 'map' && initial.entries.length === 0;
}

/** Puts an element of the range into the variables of the fold. */
function binding(
  fold: Comprehension,
  compiler: Compiler,
  { first, second }: { readonly first: number; readonly second: number | undefined },
): Bind {
  const type = compiler.checked.typeOf(fold.range);
  const itemType = type.parameters[type.kind === 'map' ? 1 : 0];
  const coerce = itemType === undefined ? undefined : coercionTo(itemType);
  return (frame, { values, elements }, index) => {
    const { locals } = frame;
    const element = elements[index]!;
    if (Array.isArray(values)) {
      const item = coerce === undefined ? element : coerce(element, frame);
      if (second === undefined) locals[first] = item;
      else {
        locals[first] = index;
        locals[second] = item;
      }
      return;
    }
    locals[first] = element;
    if (second === undefined) return;
    const value = mapGet(values as Parameters<typeof mapGet>[0], element)!;
    locals[second] = coerce === undefined ? value : coerce(value, frame);
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
function quantify(predicate: Evaluator, deciding: boolean): Steps<{ result: boolean | Failure }> {
  const conditionCost = deciding ? 3 : 2;
  return {
    begin: () => ({ result: !deciding }),
    step(frame, state, hasNext) {
      charge(frame, conditionCost + SELECT_COST);
      try {
        const value = predicate(frame);
        if (value === deciding) {
          state.result = deciding;
          if (hasNext) charge(frame, conditionCost);
          return false;
        }
        if (value !== !deciding) noSuchOverload();
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        if (typeof state.result === 'boolean') state.result = error;
      }
      return true;
    },
    end(frame, { result }) {
      charge(frame, SELECT_COST);
      if (result instanceof Failure) throw result;
      return result;
    },
  };
}

/** Finds the item that a fold like `map` or `filter` appends to its list, and the condition. */
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

/** Cost of appending an item: cel-go reads the accumulator, makes a list and concatenates the two. */
const APPEND_COST = SELECT_COST + LIST_COST + 1;

function collect(item: Evaluator, filter: Evaluator | undefined): Steps<Value[]> {
  return {
    begin: () => [],
    step(frame, items) {
      if (filter !== undefined) {
        const keep = filter(frame);
        if (keep === false) return true;
        if (keep !== true) noSuchOverload();
      }
      items.push(item(frame));
      charge(frame, APPEND_COST);
      return true;
    },
    end(frame, items) {
      charge(frame, SELECT_COST);
      return items;
    },
  };
}

/** Calls functions: a single overload directly if the types are known, and otherwise the one that the arguments fit. */
import type { Checked } from '../check/checker.ts';
import { bulkCost, comparisonCost, traversalCost } from '../cost/constants.ts';
import type { Overload } from '../library.ts';
import type { Call, Expression } from '../syntax/expression.ts';
import { isDynamic, type Operators, type Type } from '../types/type.ts';
import { equal } from '../values/equality.ts';
import { fail, noSuchOverload } from '../values/failure.ts';
import { isMap, mapGet } from '../values/map.ts';
import { costSizeOf, valuesInside } from '../values/size.ts';
import { typeNameOf, typeOf } from '../values/type-of.ts';
import { Optional, type Value } from '../values/value.ts';
import { coercionTo } from './coercion.ts';
import type { Compiler } from './compiler.ts';
import { isConstant } from './constants.ts';
import { charge, type Evaluator, type Frame } from './frame.ts';

export function compileCall(call: Call, compiler: Compiler): Evaluator {
  const { checked } = compiler;
  const isMember = call.target !== undefined && !checked.isNamespaced(call);
  const args = isMember ? [call.target!, ...call.args] : call.args;
  switch (call.function) {
    case '_==_':
      return compileEquality(compiler, args, true);
    case '_!=_':
      return compileEquality(compiler, args, false);
    case '@in':
      return compileIn(compiler, args);
    case '_+_':
      return compileSum(compiler, call, args);
  }
  return compileOverloads(compiler, call, args);
}

function compileOverloads(compiler: Compiler, call: Call, args: readonly Expression[]): Evaluator {
  const { checked } = compiler;
  const overloads = checked.overloadsOf(call);
  if (overloads[0]?.id === 'optional_or_optional' || overloads[0]?.id === 'optional_orValue_value') {
    return compileOr(compiler, args, call.function === 'orValue');
  }
  const single = overloads.length === 1 ? overloads[0]! : undefined;
  const isCertain = single?.parameters.every((type, i) => isCertainly(checked.typeOf(args[i]!), type)) ?? false;
  const invoke =
    single !== undefined && isCertain
      ? direct(
          call.function,
          single,
          args.map((arg) => compiler.compile(arg)),
        )
      : dispatched(
          call.function,
          overloads,
          args.map((arg) => compiler.compile(arg)),
        );
  const coerce = coercionTo(checked.typeOf(call));
  return coerce === undefined ? invoke : (frame) => coerce(invoke(frame), frame);
}

/** Reports whether a value of the first type needs no test before a function takes it as the second. */
function isCertainly(type: Type, parameter: Type): boolean {
  if (parameter.kind === 'dyn' || parameter.kind === 'parameter') return true;
  return !isDynamic(type) && type.kind !== 'null';
}

/** The types are known, but JSON may have null in the place of every value: then they are tested. */
function direct(name: string, overload: Overload, args: readonly Evaluator[]): Evaluator {
  const { call } = overload;
  const isUnit = overload.cost === undefined && overload.costBefore === undefined;
  const [a, b] = args as [Evaluator, Evaluator];
  if (isUnit && args.length === 1) {
    return (frame) => {
      const value = a(frame);
      if (value === null) return tested(frame, name, overload, [value]);
      charge(frame, 1);
      return call(value);
    };
  }
  if (isUnit && args.length === 2) {
    return (frame) => {
      const left = a(frame);
      const right = b(frame);
      if (left === null || right === null) return tested(frame, name, overload, [left, right]);
      charge(frame, 1);
      return call(left, right);
    };
  }
  return (frame) => {
    const values = args.map((arg) => arg(frame));
    return values.includes(null) ? tested(frame, name, overload, values) : invoke(frame, overload, values);
  };
}

function tested(frame: Frame, name: string, overload: Overload, values: Value[]): Value {
  const isAccepted = overload.parameters.every((type, i) => accepts(type, values[i]!));
  return isAccepted ? invoke(frame, overload, values) : fail(noOverloadMessage(name, values));
}

/** Calls that may read whole values are not repeated when a long evaluation goes on after an interruption. */
function invoke(frame: Frame, overload: Overload, values: Value[]): Value {
  const { progress } = frame;
  if (progress === undefined) return invokeNow(frame, overload, values);
  return progress.once(frame, () => invokeNow(frame, overload, values));
}

function invokeNow(frame: Frame, overload: Overload, values: Value[]): Value {
  const { cost, costBefore } = overload;
  charge(frame, costBefore !== undefined ? costBefore(values) : cost === undefined ? 1 : 0);
  const result = overload.call(...values);
  if (cost !== undefined) charge(frame, cost(values, result));
  return result;
}

function dispatched(name: string, overloads: readonly Overload[], args: readonly Evaluator[]): Evaluator {
  return (frame) => {
    const values = args.map((arg) => arg(frame));
    const overload = overloads.find(({ parameters }) => parameters.every((type, i) => accepts(type, values[i]!)));
    if (overload === undefined) return fail(noOverloadMessage(name, values));
    return invoke(frame, overload, values);
  };
}

function noOverloadMessage(name: string, values: readonly Value[]): string {
  const isOperator = !/^\w+(\.\w+)*$/.test(name) || name.startsWith('_');
  return isOperator ? 'no such overload' : `no such overload: ${name}(${values.map(typeNameOf).join(', ')})`;
}

/** Reports whether a value can be the argument of a parameter; elements of lists and maps are not looked at. */
function accepts(type: Type, value: Value): boolean {
  if (type.kind === 'dyn' || type.kind === 'parameter') return true;
  const found = typeOf(value);
  return found.kind === type.kind && (found.kind === 'list' || found.kind === 'map' || found.name === type.name);
}

/** A sum whose left operand may have a type with its own, which compares items. */
function compileSum(compiler: Compiler, call: Call, args: readonly Expression[]): Evaluator {
  const add = declaredTypeOf(compiler.checked, args[0]!).operators?.add;
  const overload = compiler.checked.overloadsOf(call).find(({ id }) => id === 'add_list');
  if (!add || !overload) return compileOverloads(compiler, call, args);
  const costBefore = ([a, b]: readonly Value[]) =>
    overload.costBefore!([a!, b!]) + comparisonCost(costSizeOf(a!) * valuesInside(b!));
  return dispatched(
    call.function,
    [{ ...overload, call: add, costBefore }],
    args.map((arg) => compiler.compile(arg)),
  );
}

function compileEquality(compiler: Compiler, args: readonly Expression[], whenEqual: boolean): Evaluator {
  const left = compiler.compile(args[0]!);
  const right = compiler.compile(args[1]!);
  const compare = declaredTypeOf(compiler.checked, args[0]!).operators?.equal ?? equal;
  const compareNow = (frame: Frame, a: Value, b: Value) => {
    const isScalar = typeof a !== 'object' && typeof a !== 'string';
    charge(frame, isScalar ? 1 : traversalCost(Math.min(costSizeOf(a), costSizeOf(b))));
    return metered(frame, a, b, compare) === whenEqual;
  };
  return (frame) => {
    const a = left(frame);
    const b = right(frame);
    const { progress } = frame;
    return progress === undefined ? compareNow(frame, a, b) : progress.once(frame, () => compareNow(frame, a, b));
  };
}

/** Compares values and charges for the visited parts. */
function metered(frame: Frame, a: Value, b: Value, compare: Operators['equal']): boolean {
  frame.steps = 0;
  try {
    return compare(a, b, frame);
  } finally {
    if (frame.steps > 0) charge(frame, bulkCost(frame.steps));
  }
}

function compileIn(compiler: Compiler, args: readonly Expression[]): Evaluator {
  const item = compiler.compile(args[0]!);
  const container = compiler.compile(args[1]!);
  // Lists of literals become sets in cel-go, which are free.
  const isFree = isConstant(args[1]!);
  const compare = itemTypeOf(declaredTypeOf(compiler.checked, args[1]!))?.operators?.equal ?? equal;
  const findNow = (frame: Frame, value: Value, set: Value) => {
    if (Array.isArray(set)) {
      charge(frame, isFree ? 0 : set.length);
      return set.some((element: Value) => metered(frame, element, value, compare));
    }
    if (!isMap(set)) return noSuchOverload();
    charge(frame, 1);
    return mapGet(set, value) !== undefined;
  };
  return (frame) => {
    const value = item(frame);
    const within = container(frame);
    const set = within instanceof Optional ? (within.value ?? null) : within;
    const { progress } = frame;
    return progress === undefined ? findNow(frame, value, set) : progress.once(frame, () => findNow(frame, value, set));
  };
}

function itemTypeOf(type: Type): Type | undefined {
  return type.kind === 'list' ? type.parameters[0] : undefined;
}

/** Compiles `x.or(y)` and `x.orValue(y)`: y is evaluated only when x is none. cel-go does not charge for them. */
function compileOr(compiler: Compiler, args: readonly Expression[], unwrap: boolean): Evaluator {
  const optional = compiler.compile(args[0]!);
  const other = compiler.compile(args[1]!);
  return (frame) => {
    const value = optional(frame);
    if (!(value instanceof Optional)) return noSuchOverload();
    if (value.value === undefined) return other(frame);
    return unwrap ? value.value : value;
  };
}

/** The type that a value was declared with, also behind `dyn()`: a value keeps the operators of its declaration. */
function declaredTypeOf(checked: Checked, expression: Expression): Type {
  const type = checked.typeOf(expression);
  if (type.kind !== 'dyn') return type;
  if (expression.kind === 'select' && !expression.test) {
    const operand = declaredTypeOf(checked, expression.operand);
    return (operand.kind === 'map' ? operand.parameters[1] : operand.fieldOf?.(expression.field)?.type) ?? type;
  }
  if (expression.kind !== 'call') return type;
  const [first] = expression.args;
  if (!first) return type;
  if (expression.function === 'dyn' && expression.target === undefined) return declaredTypeOf(checked, first);
  if (expression.function !== '_[_]') return type;
  const { kind, parameters } = declaredTypeOf(checked, first);
  return (kind === 'list' ? parameters[0] : kind === 'map' ? parameters[1] : undefined) ?? type;
}

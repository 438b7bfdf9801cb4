/**
 * Extends the language: functions, macros and types, with their costs. The standard library is one as well
 * (`libraries/`); an `Environment` consists of them.
 */
import type { Range } from './cost/range.ts';
import type { Expression } from './syntax/expression.ts';
import type { Type } from './types/type.ts';
import type { Value } from './values/value.ts';

export interface Library {
  readonly name: string;
  readonly functions?: readonly FunctionDeclaration[];
  readonly macros?: readonly Macro[];
  /** Types that expressions can name: `type(x) == net.URL`, `JSONPatch{…}`. */
  readonly types?: readonly Type[];
}

export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly Overload[];
}

export interface Overload {
  /** Unique in an environment: `string_starts_with_string`. */
  readonly id: string;
  /** True when it is called as `target.name(…)`; the target is the first parameter. */
  readonly member?: boolean;
  readonly parameters: readonly Type[];
  readonly result: Type;
  /** Throws with `fail()`. The arguments have the types of the parameters at run time. */
  readonly call: Implementation;
  /** Cost of a call at run time. Default: 1. The target is the first argument. */
  readonly cost?: (args: readonly Value[], result: Value) => number;
  /** Cost of a function whose arguments determine its work: it is charged before the function runs. */
  readonly costBefore?: (args: readonly Value[]) => number;
  /** Estimates the minimum and maximum cost of a call before it runs, without the cost of its arguments. Default: 1. */
  readonly estimate?: (call: CallNode) => CallEstimate | undefined;
}

/** Takes as many arguments as the overload has parameters. */
export type Implementation = (...args: any[]) => Value;

export interface CallNode {
  readonly target: CostNode | undefined;
  /** Arguments without the target. */
  readonly args: readonly CostNode[];
  /** The size of a node: computed from the expression, or given by the caller's limits, or unknown (0 to infinity). */
  sizeOf(node: CostNode): Range;
  /** The elements of a list, as a node whose size can be asked for; undefined for other types. */
  elementOf(node: CostNode): CostNode | undefined;
}

/** A part of an expression, seen by the cost estimate. */
export interface CostNode {
  /** Origin of the value: a variable, then fields, `@items`, `@keys`, `@values`. Undefined for computed values. */
  readonly path: readonly string[] | undefined;
  readonly type: Type;
  /** Size that the expression itself determines (literals, sums). */
  readonly computedSize: Range | undefined;
  readonly literal: Value | undefined;
}

export interface CallEstimate {
  readonly cost: Range;
  /** The size of the result, where it is a string, bytes, a list or a map. */
  readonly size?: Range;
}

/** Rewrites calls with one name and number of arguments before types are checked. */
export interface Macro {
  readonly name: string;
  readonly member: boolean;
  readonly arity: number;
  /** Returns undefined when the call does not match the macro after all. */
  expand(call: MacroCall): Expression | undefined;
}

export interface MacroCall {
  readonly target: Expression | undefined;
  readonly args: readonly Expression[];
  /** The position of the call: new expressions take it. */
  readonly position: number;
  /** Reports a mistake in the call. */
  error(message: string, at: Expression): Expression;
}

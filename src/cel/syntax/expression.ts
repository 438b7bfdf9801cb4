/** The abstract syntax of an expression, after macros have been expanded. */
import type { Value } from '../values/value.ts';

export type Expression =
  | Literal
  | Identifier
  | Select
  | Call
  | ListLiteral
  | MapLiteral
  | ObjectLiteral
  | Comprehension
  | Mistake;

interface Node {
  /** Position in the source, in characters (code points) from the start; that of the operator if there is one. */
  readonly position: number;
}

interface Literal extends Node {
  readonly kind: 'literal';
  readonly value: Value;
}

interface Identifier extends Node {
  readonly kind: 'identifier';
  /** Name, with a leading dot when it is looked up in the root container: `.x`. */
  readonly name: string;
}

export interface Select extends Node {
  readonly kind: 'select';
  readonly operand: Expression;
  readonly field: string;
  /** `has(operand.field)`. */
  readonly test: boolean;
}

export interface Call extends Node {
  readonly kind: 'call';
  readonly function: string;
  readonly target: Expression | undefined;
  readonly args: readonly Expression[];
}

export interface ListLiteral extends Node {
  readonly kind: 'list';
  readonly items: readonly ListItem[];
}

export interface ListItem {
  readonly value: Expression;
  /** `[?x]`: left out when x is none. */
  readonly optional: boolean;
}

export interface MapLiteral extends Node {
  readonly kind: 'map';
  readonly entries: readonly MapEntry[];
}

export interface MapEntry extends Node {
  readonly key: Expression;
  readonly value: Expression;
  readonly optional: boolean;
}

export interface ObjectLiteral extends Node {
  readonly kind: 'object';
  readonly typeName: string;
  readonly fields: readonly ObjectField[];
}

export interface ObjectField extends Node {
  readonly field: string;
  readonly value: Expression;
  readonly optional: boolean;
}

/** Folds over a list or map. */
export interface Comprehension extends Node {
  readonly kind: 'comprehension';
  readonly range: Expression;
  readonly variable: string;
  /** Second variable of a two-variable comprehension: `variable` is the index or key, this the item or value. */
  readonly variable2: string | undefined;
  readonly accumulator: string;
  readonly initial: Expression;
  /** Checked before each step; the fold ends when it is false. */
  readonly condition: Expression;
  readonly step: Expression;
  readonly result: Expression;
}

/** Stands where a mistake has been reported. */
interface Mistake extends Node {
  readonly kind: 'mistake';
}

/** The accumulator's name in the comprehensions of macros; no expression can write it. */
export const ACCUMULATOR = '@result';

import type { Checked } from '../check/checker.ts';
import type { Expression } from '../syntax/expression.ts';
import type { Evaluator } from './frame.ts';

/** Interface between the parts of the compiler. */
export interface Compiler {
  readonly checked: Checked;
  compile(expression: Expression): Evaluator;
  /** Gives a local variable a slot in the frame. */
  declare(name: string): number;
  /** Ends the scope of the last variables that were declared. */
  leave(variables: number): void;
}

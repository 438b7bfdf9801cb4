import type { Checked } from '../check/checker.ts';
import type { Expression } from '../syntax/expression.ts';
import type { Type } from '../types/type.ts';

/** The type that a value was declared with, also behind `dyn()`: a value keeps the operators of its declaration. */
export function declaredTypeOf(checked: Checked, expression: Expression): Type {
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

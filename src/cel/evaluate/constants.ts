import type { Expression } from '../syntax/expression.ts';

/** Reports whether an expression is made of literals only, in lists and maps. */
export function isConstant(expression: Expression): boolean {
  switch (expression.kind) {
    case 'literal':
      return true;
    case 'list':
      return expression.items.every(({ value, optional }) => !optional && isConstant(value));
    case 'map':
      return expression.entries.every(({ key, value, optional }) => !optional && isConstant(key) && isConstant(value));
    default:
      return false;
  }
}

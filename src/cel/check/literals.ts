/** Literal arguments that can only fail: durations, timestamps and regular expressions. Kubernetes rejects them before they run. */
import { RegularExpressionError, regularExpression } from '../../base/text/regular-expression.ts';
import type { Call, Expression } from '../syntax/expression.ts';
import type { Issue } from '../syntax/issues.ts';
import { parseDuration, parseTimestamp } from '../values/time.ts';

const VALID: Readonly<Record<string, (text: string) => boolean>> = {
  duration: (text) => parseDuration(text) !== undefined,
  timestamp: (text) => parseTimestamp(text) !== undefined,
  matches: isRegularExpression,
};

export function checkLiterals(expression: Expression): Issue[] {
  const issues: Issue[] = [];
  const seen = new Set<Expression>();
  const visit = (part: Expression): void => {
    if (seen.has(part)) return;
    seen.add(part);
    if (part.kind === 'call') issues.push(...issuesOf(part));
    for (const child of childrenOf(part)) visit(child);
  };
  visit(expression);
  return issues;
}

function issuesOf(call: Call): Issue[] {
  const isValid = Object.hasOwn(VALID, call.function) ? VALID[call.function] : undefined;
  const argument = call.args.at(-1);
  if (isValid === undefined || argument?.kind !== 'literal' || typeof argument.value !== 'string') return [];
  if (isValid(argument.value)) return [];
  return [{ position: argument.position, message: `invalid ${call.function} argument` }];
}

function isRegularExpression(text: string): boolean {
  try {
    regularExpression(text);
    return true;
  } catch (error) {
    if (error instanceof RegularExpressionError) return false;
    throw error;
  }
}

function childrenOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'literal':
    case 'identifier':
    case 'mistake':
      return [];
    case 'select':
      return [expression.operand];
    case 'call':
      return expression.target === undefined ? expression.args : [expression.target, ...expression.args];
    case 'list':
      return expression.items.map(({ value }) => value);
    case 'map':
      return expression.entries.flatMap(({ key, value }) => [key, value]);
    case 'object':
      return expression.fields.map(({ value }) => value);
    case 'comprehension': {
      const { range, initial, condition, step, result } = expression;
      return [range, initial, condition, step, result];
    }
  }
}

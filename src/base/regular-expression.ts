/**
 * Regular expressions of clients, with the syntax and meaning of RE2 as Go programs have it. Matching takes time linear in
 * the text, whatever the expression: those of JavaScript can backtrack for ever.
 */
import { RE2JS } from 're2js';
import { memoized, textBytes } from './collections/bounded-map.ts';

/** An expression cannot be compiled; the message is Go's. */
export class RegularExpressionError extends Error {}

/** Longer expressions are refused: the compiled form takes many times their length. */
const MAX_EXPRESSION_CHARACTERS = 16_384;
/** About how much memory the compiled form takes for each character of the expression. */
const COMPILED_BYTES_PER_CHARACTER = 400;
const MAX_CACHE_BYTES = 8 * 1024 * 1024;

const compiled = memoized(compile, {
  maxBytes: MAX_CACHE_BYTES,
  bytesOf: (expression) => textBytes(expression.pattern()) + expression.pattern().length * COMPILED_BYTES_PER_CHARACTER,
});

/** Compiles an expression, which is kept for a while. Throws a RegularExpressionError. */
export function regularExpression(text: string): RE2JS {
  return compiled(text);
}

function compile(text: string): RE2JS {
  if (text.length > MAX_EXPRESSION_CHARACTERS) {
    throw new RegularExpressionError(
      `error parsing regexp: expression has more than ${MAX_EXPRESSION_CHARACTERS} characters`,
    );
  }
  try {
    return RE2JS.compile(text);
  } catch (error) {
    throw new RegularExpressionError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** Whether an expression matches anywhere in a text. */
export function matchesAnywhere(expression: RE2JS, text: string): boolean {
  return expression.matcher(text).find();
}

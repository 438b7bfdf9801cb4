/** `text.find(expression)` and `text.findAll(expression)`, with the syntax of RE2. */
import { matcherOf, RegularExpressionError, regularExpression } from '../base/text/regular-expression.ts';
import { member } from '../cel/libraries/declare.ts';
import type { Library } from '../cel/library.ts';
import { INT, listType, STRING } from '../cel/types/type.ts';
import { fail } from '../cel/values/failure.ts';
import { MATCHING } from './costs.ts';

/** Limit for the matches of one call; more are an error. Each takes about a microsecond, which costs do not reflect. */
const MAX_MATCHES = 50_000;

/** Returns at most `limit` matches; all if it is negative. */
function findAll(text: string, expression: string, limit: number | bigint): string[] {
  const found: string[] = [];
  const matcher = matcherOf(compiled(expression), text);
  try {
    while ((limit < 0 || found.length < limit) && matcher.find()) {
      if (found.length === MAX_MATCHES) return fail(`the regular expression has more than ${MAX_MATCHES} matches`);
      found.push(matcher.group() ?? '');
    }
  } catch (error) {
    if (error instanceof RegularExpressionError) return fail(error.message);
    throw error;
  }
  return found;
}

function compiled(expression: string) {
  try {
    return regularExpression(expression);
  } catch (error) {
    if (error instanceof RegularExpressionError) return fail(`Illegal regex: ${error.message}`);
    throw error;
  }
}

const LIST = listType(STRING);

export const REGEX_LIBRARY: Library = {
  name: 'kubernetes.regex',
  functions: [
    {
      name: 'find',
      overloads: [
        member(
          'string_find_string',
          [STRING, STRING],
          STRING,
          (text, expression) => findAll(text, expression, 1)[0] ?? '',
          MATCHING,
        ),
      ],
    },
    {
      name: 'findAll',
      overloads: [
        member(
          'string_find_all_string',
          [STRING, STRING],
          LIST,
          (text, expression) => findAll(text, expression, -1),
          MATCHING,
        ),
        member('string_find_all_string_int', [STRING, STRING, INT], LIST, findAll, MATCHING),
      ],
    },
  ],
};

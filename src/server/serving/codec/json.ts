import { isUtf8 } from 'node:buffer';
import { ApiError } from '../../../api/errors.ts';
import { exceeded } from '../../../base/json/size.ts';
import { DecodeError } from './decode-error.ts';

/** Size below which a body cannot exceed the maximum number of parts. */
const MIN_CHECKED_BYTES = 256 * 1024;
/** Limit for fields, items, objects and lists: parsing, and collecting the garbage, takes time for each. */
export const MAX_BODY_PARTS = 250_000;

/** Parses a JSON body. Rejects invalid UTF-8 or JSON, deep nesting, the key `__proto__`; with 413, too many parts. */
export function decodeJson(bytes: Buffer, maxDepth: number): unknown {
  if (!isUtf8(bytes)) throw new DecodeError('the body is not valid UTF-8');
  const text = bytes.toString('utf8');
  if (bytes.length > MIN_CHECKED_BYTES || !hasFewBrackets(text, maxDepth)) checkLimits(text, maxDepth);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new DecodeError(`json parse error: ${syntaxProblem(cause as Error)}`, cause);
  }
  if (mayHaveProtoKey(text)) rejectProtoKey(value);
  return value;
}

/** Returns the message of JSON.parse in Go's form, without the text that some messages quote: it may be a secret. */
function syntaxProblem({ message }: Error): string {
  const problem = message.replace(/(?:^|, )(?:\.\.\.)?".*$/s, '');
  return problem ? problem[0]!.toLowerCase() + problem.slice(1) : 'invalid JSON';
}

function checkLimits(text: string, maxDepth: number): void {
  switch (exceeded(text, { maxDepth, maxParts: MAX_BODY_PARTS })) {
    case 'parts':
      throw tooManyParts();
    case 'depth':
      throw new DecodeError(`the body is nested deeper than ${maxDepth} levels`);
  }
}

export function tooManyParts(): ApiError {
  return new ApiError(
    'RequestEntityTooLarge',
    `Request entity too large: limit is ${MAX_BODY_PARTS} fields and list items`,
  );
}

/** A fast check for the key, which could also be written with escapes; those are rare. */
function mayHaveProtoKey(text: string): boolean {
  return text.includes('__proto__') || text.includes('\\u00');
}

/** Rejects the key `__proto__`: copying it by assignment would change the prototype of the copy. */
function rejectProtoKey(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) rejectProtoKey(item);
    return;
  }
  // Object.entries would create a list of lists, which takes three times as long for a large object.
  for (const key in value) {
    if (key === '__proto__') throw new DecodeError('the key "__proto__" is not allowed');
    rejectProtoKey((value as Record<string, unknown>)[key]);
  }
}

/** A fast check that suffices for nearly every body: too few brackets for deep nesting. */
function hasFewBrackets(text: string, limit: number): boolean {
  let found = 0;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      if (++found > limit) return false;
    }
  }
  return true;
}

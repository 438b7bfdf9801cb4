/**
 * Regular expressions from clients, with the syntax and semantics of RE2 as in Go. Matching takes time linear in the
 * text, whatever the expression: those of JavaScript can backtrack exponentially.
 */
import { type Matcher, RE2JS } from 're2js';
import { memoized, textBytes } from '../collections/bounded-map.ts';
import { continued } from '../event-loop/replay.ts';
import { LongMatch } from './long-match.ts';

/** An expression that cannot be compiled, with the message of Go, or whose match takes too long. */
export class RegularExpressionError extends Error {}

/** Limit for the length of an expression: the compiled form takes many times that. */
const MAX_EXPRESSION_CHARACTERS = 16_384;
/** Estimated memory of the compiled form for each character of the expression. */
const COMPILED_BYTES_PER_CHARACTER = 400;
const MAX_CACHE_BYTES = 8 * 1024 * 1024;

const compiled = memoized(compile, {
  maxBytes: MAX_CACHE_BYTES,
  bytesOf: (expression) => textBytes(expression.pattern()) + expression.pattern().length * COMPILED_BYTES_PER_CHARACTER,
});

/** Compiles an expression and caches the result. Throws a RegularExpressionError. */
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

/** Limit for matches without the automaton, in instructions times characters: 100 ms in the worst case. */
const MAX_PLAIN_STEPS = 2_000_000;

/** Estimates the duration of a match: the instructions of the expression times the characters of the text. */
export const matchingSteps = (expression: RE2JS, text: string) => expression.programSize() * (text.length + 1);

/**
 * Reports whether an expression matches anywhere in a text. Linear time is not short for 3 MB and thousands of
 * instructions: a long text is matched by an automaton, or not at all. Throws a RegularExpressionError.
 */
export function matchesAnywhere(expression: RE2JS, text: string): boolean {
  const long = longMatch(expression, text);
  const match = long ? continued(long.decide()) : expression.matcher(text).find();
  if (match === 'too long') throw tooManySteps();
  return match;
}

/** Prepares a match of a long text, to be made over several turns of the event loop; undefined for a short text. */
export function longMatch(expression: RE2JS, text: string): LongMatch | undefined {
  if (matchingSteps(expression, text) <= MAX_PLAIN_STEPS) return undefined;
  // Compiles again, so that the memory of the automaton is freed after the match.
  return new LongMatch(compile(expression.pattern()), text);
}

const tooManySteps = () =>
  new RegularExpressionError('the text is too long for the regular expression: matching takes too many steps');

/** Shorter texts are matched without counting. */
const MIN_CHARGED_CHARACTERS = 100;
const MAX_SEARCH_CHARGES = 2_000_000;

/** Finds the matches one after the other: each may read the rest of the text. Throws a RegularExpressionError. */
export function matcherOf(expression: RE2JS, text: string): Matcher {
  const isShort = text.length <= MIN_CHARGED_CHARACTERS;
  return expression.matcher(isShort ? text : charged(expression, text, MAX_SEARCH_CHARGES));
}

const charged = (expression: RE2JS, text: string, limit: number) =>
  new ChargedText(text, expression.programSize(), limit) as unknown as string;

/**
 * A text that counts the characters that a search reads, and charges instructions for those that are read again. Has
 * the string methods that the engines call.
 */
class ChargedText {
  readonly length: number;
  readonly #text: string;
  readonly #instructions: number;
  #left: number;
  #last = -1;

  constructor(text: string, instructions: number, limit: number) {
    this.length = text.length;
    this.#text = text;
    this.#instructions = instructions;
    this.#left = limit + text.length;
  }

  charCodeAt(index: number): number {
    this.#charge(index > this.#last ? 1 : this.#instructions);
    this.#last = index;
    return this.#text.charCodeAt(index);
  }

  indexOf(part: string, from: number): number {
    const found = this.#text.indexOf(part, from);
    this.#charge(((found < 0 ? this.length : found) - from) >> 4);
    return found;
  }

  /** The tag of strings: without it, no search accepts the text. */
  get [Symbol.toStringTag](): string {
    return 'String';
  }

  substring(start: number, end: number): string {
    return this.#text.substring(start, end);
  }

  #charge(units: number): void {
    this.#left -= units;
    if (this.#left < 0) throw tooManySteps();
  }
}

import { isTree } from '../base/json/tree.ts';
import { type FieldError, forbidden } from '../schema/field-error.ts';
import type { JsonSchema } from './json-schema.ts';

/** Patterns are compiled while others wait, some microseconds for each step: all versions together have no more of them. Public definitions have up to 530. */
const MAX_PATTERN_STEPS = 50_000;

/** Checks the size of the patterns in all schemas of a definition. A repeated pattern is counted once. */
export function patternLimitErrors(schemas: readonly JsonSchema[], path: string): FieldError[] {
  const patterns = new Set<string>();
  for (const schema of schemas) collect(schema, patterns);
  let steps = 0;
  for (const pattern of patterns) steps += patternSize(pattern);
  if (steps <= MAX_PATTERN_STEPS) return [];
  const detail = `patterns must have at most ${MAX_PATTERN_STEPS} steps in all versions, where a counted repetition has as many as its copies`;
  return [forbidden(path, detail)];
}

function collect(schema: JsonSchema, patterns: Set<string>): void {
  const { pattern, properties = {}, items, additionalProperties, not, allOf = [], anyOf = [], oneOf = [] } = schema;
  if (typeof pattern === 'string') patterns.add(pattern);
  for (const each of [...Object.values(properties), items, additionalProperties, not, ...allOf, ...anyOf, ...oneOf]) {
    if (isTree(each)) collect(each as JsonSchema, patterns);
  }
}

/**
 * Estimates the number of steps in the compiled form of a regular expression: a counted repetition such as
 * `(ab){1,300}` is compiled into as many copies. Malformed expressions also have some size.
 */
export function patternSize(pattern: string): number {
  const groups: { sum: number; last: number }[] = [];
  let at = { sum: 0, last: 0 };
  const add = (size: number) => {
    at.sum += size;
    at.last = size;
  };
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i];
    if (character === '(') {
      groups.push(at);
      at = { sum: 0, last: 0 };
    } else if (character === ')') {
      const { sum } = at;
      at = groups.pop() ?? { sum: 0, last: 0 };
      add(sum + 2);
    } else if (character === '[') {
      i = endOfClass(pattern, i);
      add(1);
    } else if (character === '{') {
      const [whole, least = '', most = ''] = COUNT.exec(pattern.slice(i, i + MAX_COUNT_LENGTH)) ?? [];
      if (whole === undefined) add(1);
      else {
        at.sum += at.last * (Math.max(Number(least), Number(most)) - 1);
        i += whole.length - 1;
      }
    } else {
      if (character === '\\') i++;
      add(1);
    }
  }
  return groups.reduce((sum, group) => sum + group.sum, at.sum);
}

const COUNT = /^\{(\d+),?(\d*)\}/;
const MAX_COUNT_LENGTH = 12;

function endOfClass(pattern: string, start: number): number {
  for (let i = start + 2; i < pattern.length; i++) {
    if (pattern[i] === '\\') i++;
    else if (pattern[i] === ']') return i;
  }
  return pattern.length;
}

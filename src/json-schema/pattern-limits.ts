import { isTree } from '../base/json/tree.ts';
import { type FieldError, forbidden } from '../schema/field-error.ts';
import type { JsonSchema } from './json-schema.ts';
import { patternSize } from './pattern-size.ts';

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

import { exceeded } from '../../../base/json/size.ts';

/** Limit for nesting: the deepest object, and the review around it. */
const MAX_DEPTH = 1_050;

/**
 * Parses the response of a webhook. Throws an Error: a few megabytes of opening brackets would block the event loop for
 * a third of a second before JSON.parse rejects them, and an object with 100,000 fields for half of that.
 */
export function parseAnswer(text: string, maxParts = Number.POSITIVE_INFINITY): unknown {
  const limit = exceeded(text, { maxDepth: MAX_DEPTH, maxParts });
  if (limit === 'depth') throw new Error('json: exceeded max depth');
  if (limit === 'parts') throw new Error(`json: more than ${maxParts} fields and list items`);
  return JSON.parse(text);
}

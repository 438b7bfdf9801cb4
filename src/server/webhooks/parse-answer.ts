import { isShallow } from '../../base/json/depth.ts';

/** What the deepest object may have, and the review around it. */
const MAX_DEPTH = 1_050;

/**
 * Parses what a webhook has answered. Throws an Error: a few megabytes of opening brackets would block the event loop for a third of a
 * second before the parser finds that they are no JSON.
 */
export function parseAnswer(text: string): unknown {
  if (!isShallow(text, MAX_DEPTH)) throw new DepthError();
  return JSON.parse(text);
}

/** For an answer that is nested too deep. */
export class DepthError extends Error {
  constructor() {
    super('json: exceeded max depth');
  }
}

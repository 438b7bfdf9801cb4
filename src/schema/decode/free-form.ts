/** Decodes data that no schema describes, and knows how deep data may be. */
import { DecodeError } from './decode-error.ts';

/** Maximum depth of free-form data and of recursive shapes. */
const MAX_DEPTH = 1000;

export function checkDepth(depth: number): void {
  if (depth >= MAX_DEPTH) throw new DecodeError('json: exceeded max depth');
}

/**
 * Returns free-form data as it is, after a check that it is not too deep for recursive walks, and that its numbers can be
 * stored: those that are too large were parsed as infinite, which JSON would store as null.
 */
export function decodeAny(input: unknown): unknown {
  if (typeof input !== 'object' || input === null) {
    checkFinite(input);
    return input;
  }
  let level: object[] = [input];
  for (let deep = 0; level.length > 0; deep++) {
    checkDepth(deep);
    const next: object[] = [];
    for (const each of level) {
      for (const child of Object.values(each)) {
        if (typeof child !== 'object') checkFinite(child);
        else if (child !== null) next.push(child);
      }
    }
    level = next;
  }
  return input;
}

function checkFinite(value: unknown): void {
  if (typeof value !== 'number' || Number.isFinite(value)) return;
  throw new DecodeError('json: cannot unmarshal number into Go value of type float64: it is out of range');
}

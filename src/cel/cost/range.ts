/** A range of sizes or costs: at least and at most. Infinity is "unknown". */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** Maximum cost that cel-go can count. */
export const MAX_COST = 2 ** 64;

export const UNKNOWN_RANGE: Range = { min: 0, max: MAX_COST };

export function exactly(value: number): Range {
  return { min: value, max: value };
}

export function addRanges(a: Range, b: Range): Range {
  return { min: Math.min(a.min + b.min, MAX_COST), max: Math.min(a.max + b.max, MAX_COST) };
}

export function multiplyRanges(a: Range, b: Range): Range {
  return { min: Math.min(a.min * b.min, MAX_COST), max: Math.min(a.max * b.max, MAX_COST) };
}

/** Multiplies with a factor and rounds up. */
export function scaleRange(range: Range, factor: number): Range {
  return {
    min: Math.min(Math.ceil(range.min * factor), MAX_COST),
    max: Math.min(Math.ceil(range.max * factor), MAX_COST),
  };
}

export function uniteRanges(a: Range, b: Range): Range {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}

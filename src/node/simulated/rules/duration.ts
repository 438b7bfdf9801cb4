/** A duration (`2s`), or a range of durations (`500ms..2s`). */
import type { Random } from '../../../base/random.ts';

/** In milliseconds. */
export interface DurationRange {
  readonly min: number;
  readonly max: number;
}

/** Longer durations are invalid: a sum of a few of them and the present is still a date. */
const MAX_DURATION_MS = 10 * 366 * 24 * 3_600_000;

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Returns undefined when the text is not a duration or range. */
export function parseDurationRange(text: string): DurationRange | undefined {
  const [first = '', last, ...rest] = text.split('..').map((part) => part.trim());
  const min = milliseconds(first);
  const max = last === undefined ? min : milliseconds(last);
  if (rest.length > 0 || min === undefined || max === undefined || max < min) return undefined;
  return { min, max };
}

function milliseconds(text: string): number | undefined {
  if (text === '0') return 0;
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/([\d.]+)(ms|s|m|h)/g)) {
    total += Number(amount) * UNITS[unit as keyof typeof UNITS];
  }
  return total <= MAX_DURATION_MS ? Math.round(total) : undefined;
}

/** Picks a duration from the range. */
export function sample({ min, max }: DurationRange, random: Random): number {
  return max === min ? min : min + random.int(max - min + 1);
}

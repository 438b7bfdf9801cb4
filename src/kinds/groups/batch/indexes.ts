/** Sets of a Job's indexes as text, such as `1,3-5,7`, in ascending order. */

interface Interval {
  readonly from: number;
  readonly to: number;
}

/** Parses intervals and counts their indexes, or returns an error. */
export function parseIndexes(
  text: string,
  completions: number,
): { readonly intervals: readonly Interval[]; readonly total: number } | { readonly error: string } {
  const intervals: Interval[] = [];
  let total = 0;
  for (const part of text ? text.split(',') : []) {
    const interval = parseInterval(part, completions);
    if ('error' in interval) return interval;
    const last = intervals.at(-1);
    if (last && last.to >= interval.from) return { error: notGrowing(last.to, interval.from) };
    intervals.push(interval);
    total += interval.to - interval.from + 1;
  }
  return { intervals, total };
}

/** The first index in both texts; undefined if there is none, or a text is malformed. */
export function firstCommonIndex(one: string, other: string, completions: number): number | undefined {
  const left = parseIndexes(one, completions);
  const right = parseIndexes(other, completions);
  if ('error' in left || 'error' in right) return undefined;
  // Both are in ascending order.
  let at = 0;
  for (const a of left.intervals) {
    while (at < right.intervals.length && right.intervals[at]!.to < a.from) at++;
    const b = right.intervals[at];
    if (b && b.from <= a.to) return Math.max(a.from, b.from);
  }
  return undefined;
}

function parseInterval(text: string, completions: number): Interval | { readonly error: string } {
  const ends = text.split('-');
  if (ends.length > 2) {
    return {
      error: `the fragment ${JSON.stringify(text)} violates the requirement that an index interval can have at most two parts separated by '-'`,
    };
  }
  for (const end of ends) {
    if (!/^\+?\d+$/.test(end)) return { error: `cannot convert string to integer for index: ${JSON.stringify(end)}` };
    if (Number(end) >= completions) return { error: `too large index: ${JSON.stringify(end)}` };
  }
  const from = Number(ends[0]);
  const to = Number(ends[1] ?? ends[0]);
  return ends.length > 1 && from >= to ? { error: notGrowing(from, to) } : { from, to };
}

const notGrowing = (previous: number, current: number) =>
  `non-increasing order, previous: ${previous}, current: ${current}`;

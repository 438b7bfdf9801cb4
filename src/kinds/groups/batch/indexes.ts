/** Sets of a Job's indexes as text, such as `1,3-5,7`, in ascending order. */

interface Interval {
  readonly from: number;
  readonly to: number;
}

/** A part of a text between two commas. The same object is used for all of them. */
interface Part {
  /** Position in the text. */
  start: number;
  end: number;
  /** Plain parts are one number, or two with a dash between them; `from` and `to` are then their ends. */
  isPlain: boolean;
  isRange: boolean;
  from: number;
  to: number;
}

/**
 * Calls `visit` with each part of a text until it returns false. A Job may have twenty such texts of 64 KB, which are
 * read with every plan: parts are therefore not copied.
 */
export function eachPart(text: string, visit: (part: Part) => boolean): void {
  if (text === '') return;
  const part: Part = { start: 0, end: 0, isPlain: true, isRange: false, from: 0, to: 0 };
  for (let start = 0; start <= text.length; start = part.end + 1) {
    readPart(text, start, part);
    if (!visit(part)) return;
  }
}

const [COMMA, DASH, ZERO] = [0x2c, 0x2d, 0x30];

function readPart(text: string, start: number, part: Part): void {
  let at = start;
  let digits = 0;
  let value = 0;
  part.start = start;
  part.isPlain = true;
  part.isRange = false;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === COMMA) break;
    const digit = code - ZERO;
    if (digit >= 0 && digit <= 9) {
      value = value * 10 + digit;
      digits++;
    } else if (code === DASH && digits > 0 && !part.isRange) {
      part.isRange = true;
      part.from = value;
      value = 0;
      digits = 0;
    } else {
      part.isPlain = false;
    }
  }
  part.end = at;
  part.to = value;
  if (!part.isRange) part.from = value;
  if (digits === 0) part.isPlain = false;
}

/** Parses intervals and counts their indexes, or returns an error. `ends` has the first and last index of each interval. */
export function parseIndexes(
  text: string,
  completions: number,
): { readonly ends: readonly number[]; readonly total: number } | { readonly error: string } {
  const ends: number[] = [];
  let total = 0;
  let last = -1;
  let error: string | undefined;
  eachPart(text, (part) => {
    const { isPlain, isRange, start, end } = part;
    const isUsual = isPlain && part.to < completions && (!isRange || part.from < part.to);
    const interval = isUsual ? part : parseInterval(text.slice(start, end), completions);
    if ('error' in interval) error = interval.error;
    else if (last >= interval.from) error = notGrowing(last, interval.from);
    else {
      ends.push(interval.from, interval.to);
      total += interval.to - interval.from + 1;
      last = interval.to;
    }
    return error === undefined;
  });
  return error === undefined ? { ends, total } : { error };
}

/** The first index in both texts; undefined if there is none, or a text is malformed. */
export function firstCommonIndex(one: string, other: string, completions: number): number | undefined {
  const left = parseIndexes(one, completions);
  const right = parseIndexes(other, completions);
  if ('error' in left || 'error' in right) return undefined;
  const [a, b] = [left.ends, right.ends];
  // Both are in ascending order.
  for (let i = 0, k = 0; i < a.length && k < b.length; ) {
    if (b[k + 1]! < a[i]!) k += 2;
    else if (a[i + 1]! < b[k]!) i += 2;
    else return Math.max(a[i]!, b[k]!);
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

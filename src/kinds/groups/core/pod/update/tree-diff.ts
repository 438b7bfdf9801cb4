/** A unified diff of two JSON trees, printed line by line. */

/** Lines of context around a change. */
const CONTEXT = 3;
/** Beyond this many comparisons, all differences are shown as one block. */
const MAX_COMPARISONS = 1_000_000;

interface Edit {
  readonly sign: ' ' | '-' | '+';
  readonly line: string;
}

export function treeDiff(before: unknown, after: unknown): string {
  const edits = compare(lines(before), lines(after));
  let out = '';
  for (let at = 0; at < edits.length; ) {
    const first = edits.findIndex(({ sign }, index) => index >= at && sign !== ' ');
    if (first < 0) break;
    const start = Math.max(at, first - CONTEXT);
    const end = endOfHunk(edits, first);
    out += hunk(edits, start, end);
    at = end;
  }
  return out;
}

function lines(tree: unknown): string[] {
  return JSON.stringify(tree, sorted, 1).split('\n');
}

/** Sorts keys, so that their order makes no difference. */
function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The end of the context after a change, unless the next change is near. */
function endOfHunk(edits: readonly Edit[], first: number): number {
  let last = first;
  for (let i = first; i < edits.length && i <= last + 2 * CONTEXT; i++) if (edits[i]!.sign !== ' ') last = i;
  return Math.min(edits.length, last + CONTEXT + 1);
}

function hunk(edits: readonly Edit[], start: number, end: number): string {
  const count = (from: number, to: number, sign: Edit['sign']) =>
    edits.slice(from, to).filter((edit) => edit.sign === ' ' || edit.sign === sign).length;
  const range = (sign: '-' | '+') => {
    const length = count(start, end, sign);
    const from = count(0, start, sign) + (length ? 1 : 0);
    return `${sign}${length === 1 ? from : `${from},${length}`}`;
  };
  const body = edits.slice(start, end).map(({ sign, line }) => `${sign}${line}\n`);
  return `@@ ${range('-')} ${range('+')} @@\n${body.join('')}`;
}

function compare(a: readonly string[], b: readonly string[]): Edit[] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const same = (line: string): Edit => ({ sign: ' ', line });
  return [
    ...a.slice(0, head).map(same),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...a.slice(a.length - tail).map(same),
  ];
}

/** Keeps the longest common subsequence of lines; the others are removed and added. */
function middle(a: readonly string[], b: readonly string[]): Edit[] {
  if (a.length * b.length > MAX_COMPARISONS) {
    return [...a.map((line): Edit => ({ sign: '-', line })), ...b.map((line): Edit => ({ sign: '+', line }))];
  }
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] =
        a[i] === b[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
    }
  }
  const edits: Edit[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      edits.push({ sign: ' ', line: a[i++]! });
      j++;
    } else if (i < a.length && (j === b.length || common[(i + 1) * width + j]! >= common[i * width + j + 1]!)) {
      edits.push({ sign: '-', line: a[i++]! });
    } else {
      edits.push({ sign: '+', line: b[j++]! });
    }
  }
  return edits;
}

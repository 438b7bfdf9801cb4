/** Sets of a Job's indexes, kept as intervals: a Job may have very many indexes, which mostly complete in order. */
import { eachPart } from '../../../kinds/groups/batch/indexes.ts';

/** The first and last index of each interval, one after the other: a Job's texts may have hundreds of thousands of them. */
type Ends = readonly number[];

export class IndexSet {
  readonly size: number;
  #text: string | undefined;

  private constructor(/** Ascending, with a gap between each two intervals. */ private readonly ends: Ends) {
    let size = 0;
    for (let at = 0; at < ends.length; at += 2) size += ends[at + 1]! - ends[at]! + 1;
    this.size = size;
  }

  static of(indexes: Iterable<number>): IndexSet {
    const ends: number[] = [];
    for (const index of [...indexes].sort((a, b) => a - b)) add(ends, index, index);
    return new IndexSet(ends);
  }

  /** Parses a text such as `1,3-5`. Skips invalid indexes, and those not below the limit. */
  static parse(text: string | undefined, below: number): IndexSet {
    const ends: number[] = [];
    let isAscending = true;
    eachPart(text ?? '', ({ isPlain, from, to }) => {
      const last = Math.min(to, below - 1);
      if (!isPlain || from > last) return true;
      if (ends.length > 0 && from < ends.at(-2)!) isAscending = false;
      if (isAscending) add(ends, from, last);
      else ends.push(from, last);
      return true;
    });
    return new IndexSet(isAscending ? ends : sorted(ends));
  }

  has(index: number): boolean {
    return (this.ends[this.#firstEndingFrom(index)] ?? Number.POSITIVE_INFINITY) <= index;
  }

  with(other: IndexSet): IndexSet {
    const [a, b] = [this.ends, other.ends];
    if (b.length === 0) return this;
    if (a.length === 0) return other;
    const ends: number[] = [];
    for (let i = 0, k = 0; i < a.length || k < b.length; ) {
      if (k >= b.length || (i < a.length && a[i]! <= b[k]!)) {
        add(ends, a[i]!, a[i + 1]!);
        i += 2;
      } else {
        add(ends, b[k]!, b[k + 1]!);
        k += 2;
      }
    }
    return new IndexSet(ends);
  }

  inCommon(other: IndexSet): number {
    const [a, b] = [this.ends, other.ends];
    let sum = 0;
    for (let i = 0, k = 0; i < a.length && k < b.length; ) {
      sum += Math.max(0, Math.min(a[i + 1]!, b[k + 1]!) - Math.max(a[i]!, b[k]!) + 1);
      if (a[i + 1]! < b[k + 1]!) i += 2;
      else k += 2;
    }
    return sum;
  }

  /** Returns the first `count` indexes below the limit that it does not contain. */
  firstMissing(count: number, below: number): number[] {
    const out: number[] = [];
    let next = 0;
    for (let at = 0; at <= this.ends.length && out.length < count; at += 2) {
      const from = Math.min(this.ends[at] ?? below, below);
      for (; next < from && out.length < count; next++) out.push(next);
      next = (this.ends[at + 1] ?? below) + 1;
    }
    return out;
  }

  /** Writes two neighbours one by one, and more as a range. */
  toString(): string {
    this.#text ??= textOf(this.ends);
    return this.#text;
  }

  /** Returns the position of the first interval that ends at the index or after it. */
  #firstEndingFrom(index: number): number {
    let low = 0;
    let high = this.ends.length / 2;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.ends[2 * middle + 1]! >= index) high = middle;
      else low = middle + 1;
    }
    return 2 * low;
  }
}

/** Adds an interval that begins no earlier than the last one; one that touches or overlaps it becomes part of it. */
function add(ends: number[], from: number, to: number): void {
  const last = ends.length - 1;
  if (last < 0 || from > ends[last]! + 1) ends.push(from, to);
  else if (to > ends[last]!) ends[last] = to;
}

/** Joins a list: a string that grows by hundreds of thousands of pieces burdens the garbage collector. */
function textOf(ends: Ends): string {
  const parts: (string | number)[] = [];
  for (let at = 0; at < ends.length; at += 2) {
    const [from, to] = [ends[at]!, ends[at + 1]!];
    parts.push(from === to ? from : `${from}${to === from + 1 ? ',' : '-'}${to}`);
  }
  return parts.join();
}

function sorted(ends: Ends): Ends {
  const order = Array.from({ length: ends.length / 2 }, (_, at) => 2 * at).sort((a, b) => ends[a]! - ends[b]!);
  const out: number[] = [];
  for (const at of order) add(out, ends[at]!, ends[at + 1]!);
  return out;
}

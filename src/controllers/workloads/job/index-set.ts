/** Sets of a Job's indexes, kept as intervals: a Job may have very many indexes, which mostly complete in order. */

interface Interval {
  readonly from: number;
  readonly to: number;
}

export class IndexSet {
  /** Ascending, with a gap between each two. */
  readonly #intervals: readonly Interval[];

  private constructor(intervals: readonly Interval[]) {
    this.#intervals = intervals;
  }

  static of(indexes: Iterable<number>): IndexSet {
    const sorted = [...indexes].sort((a, b) => a - b);
    return new IndexSet(joined(sorted.map((index) => ({ from: index, to: index }))));
  }

  /** Parses a text such as `1,3-5`. Invalid indexes, and those not below the limit, are skipped. */
  static parse(text: string | undefined, below: number): IndexSet {
    const found = (text ? text.split(',') : []).flatMap((part) => {
      const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
      const [from, to] = [Number(first), Math.min(Number(last), below - 1)];
      return from <= to ? [{ from, to }] : [];
    });
    return new IndexSet(joined(found.sort((a, b) => a.from - b.from)));
  }

  get size(): number {
    return this.#intervals.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  }

  has(index: number): boolean {
    const at = this.#firstEndingFrom(index);
    return (this.#intervals[at]?.from ?? Number.POSITIVE_INFINITY) <= index;
  }

  with(other: IndexSet): IndexSet {
    if (other.#intervals.length === 0) return this;
    return new IndexSet(joined([...this.#intervals, ...other.#intervals].sort((a, b) => a.from - b.from)));
  }

  /** How many indexes both contain. */
  inCommon(other: IndexSet): number {
    let sum = 0;
    for (const { from, to } of other.#intervals) {
      for (let at = this.#firstEndingFrom(from); at < this.#intervals.length; at++) {
        const own = this.#intervals[at] as Interval;
        if (own.from > to) break;
        sum += Math.min(own.to, to) - Math.max(own.from, from) + 1;
      }
    }
    return sum;
  }

  /** Returns the first `count` indexes below the limit that it does not contain. */
  firstMissing(count: number, below: number): number[] {
    const out: number[] = [];
    let next = 0;
    for (const { from, to } of [...this.#intervals, { from: below, to: below }]) {
      for (; next < from && next < below && out.length < count; next++) out.push(next);
      next = to + 1;
    }
    return out;
  }

  /** Two neighbours are written one by one; more become a range. */
  toString(): string {
    return this.#intervals
      .map(({ from, to }) => (from === to ? `${from}` : `${from}${to === from + 1 ? ',' : '-'}${to}`))
      .join(',');
  }

  /** Returns the position of the first interval that ends at the index or after it. */
  #firstEndingFrom(index: number): number {
    let low = 0;
    let high = this.#intervals.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#intervals[middle] as Interval).to >= index) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** Merges ordered intervals that touch or overlap. */
function joined(intervals: readonly Interval[]): readonly Interval[] {
  const out: { from: number; to: number }[] = [];
  for (const { from, to } of intervals) {
    const last = out.at(-1);
    if (last && from <= last.to + 1) last.to = Math.max(last.to, to);
    else out.push({ from, to });
  }
  return out;
}

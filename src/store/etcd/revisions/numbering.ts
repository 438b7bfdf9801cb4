/**
 * Relates revisions of etcd to those of the store that was copied into it. Each copied revision is one of etcd's. Those of the oldest
 * state were written in any order, since nobody can read between them; the changes after it in their own order. Everything that is
 * written later has etcd's revision plus a constant.
 */

export interface Point {
  readonly etcd: number;
  readonly revision: number;
}

export interface NumberingContent {
  /** Where the oldest state is complete. */
  readonly oldest: Point;
  /** The end of the copy. */
  readonly newest: Point;
  /** The copied revisions of the oldest state. */
  readonly rows: readonly Point[];
  /** The copied changes, in order. */
  readonly changes: readonly Point[];
}

/** A revision that no key in etcd has. */
const NEVER = Number.MAX_SAFE_INTEGER;

export class Numbering {
  readonly #offset: number;
  readonly #revisions: ReadonlyMap<number, number>;
  readonly #rows: ReadonlyMap<number, number>;

  constructor(private readonly content: NumberingContent) {
    const { rows, changes, newest } = content;
    const all = [...rows, ...changes];
    this.#offset = newest.revision - newest.etcd;
    this.#revisions = new Map(all.map(({ etcd, revision }) => [etcd, revision]));
    this.#rows = new Map(all.map(({ etcd, revision }) => [revision, etcd]));
  }

  /** The revision of a row, by the revision that etcd gives to it. 0 stays 0: there is no row. */
  ofRow(etcd: number): number {
    if (etcd === 0) return 0;
    return this.#revisions.get(etcd) ?? this.ofState(etcd);
  }

  /** The revision in etcd of a row that has this one; one that no row has when there is none. */
  ofRowInEtcd(revision: number): number {
    if (revision === 0) return 0;
    const { newest } = this.content;
    if (revision > newest.revision) return revision - this.#offset;
    return this.#rows.get(revision) ?? NEVER;
  }

  /** The revision of the state that etcd has at one of its revisions. */
  ofState(etcd: number): number {
    const { oldest, newest, changes } = this.content;
    if (etcd >= newest.etcd) return etcd + this.#offset;
    return last(changes, (each) => each.etcd <= etcd)?.revision ?? oldest.revision;
  }

  /** etcd's revision of the state at a revision; 1, which etcd has discarded, for one before the oldest. */
  ofStateInEtcd(revision: number): number {
    const { oldest, newest, changes } = this.content;
    if (revision < oldest.revision) return 1;
    if (revision >= newest.revision) return revision - this.#offset;
    return last(changes, (each) => each.revision <= revision)?.etcd ?? oldest.etcd;
  }
}

/** The last point that fulfils a condition, which all points before it fulfil. */
function last(points: readonly Point[], condition: (point: Point) => boolean): Point | undefined {
  let [from, to] = [0, points.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (condition(points[middle]!)) from = middle + 1;
    else to = middle;
  }
  return points[from - 1];
}

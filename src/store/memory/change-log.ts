import { type Change, type Row, StoreAhead, StoreCompacted } from '../store.ts';
import type { History, HistoryPage } from '../watchers.ts';

export interface TimedChange {
  readonly change: Change;
  /** Time of the commit: milliseconds since the epoch. */
  readonly time: number;
}

/** The changes in history, oldest first. */
export class ChangeLog implements History {
  /** The newest revision: 1 before the first commit, as in etcd, because 0 means "any" to API clients. */
  revision: number;
  /** The oldest revision that can still be read. */
  compacted: number;
  /** Changes. Those before #head are discarded, and removed from the array when they are its larger half. */
  #entries: TimedChange[] = [];
  #head = 0;
  #bytes = 0;

  /** `image` is the revision of the initial content; absent for an empty store. */
  constructor(image?: number) {
    this.revision = image ?? 1;
    this.compacted = image ?? 0;
  }

  append(changes: readonly Change[], time: number): void {
    for (const change of changes) {
      this.#entries.push({ change, time });
      this.#bytes += heldBy(change);
      this.revision = change.revision;
    }
  }

  /** Discards everything up to and including a revision. */
  compact(revision: number): void {
    this.check(revision, 0);
    if (revision <= this.compacted) return;
    this.compacted = revision;
    this.#drop(this.#indexAfter(revision));
  }

  /** Discards complete revisions from the front until the rest fits both limits. */
  trim(oldestTime: number, maxBytes: number): void {
    for (;;) {
      const { change, time } = this.#entries[this.#head] ?? {};
      if (!change || time === undefined) return;
      if (time > oldestTime && this.#bytes <= maxBytes && change.revision > this.compacted) return;
      this.compacted = change.revision;
      this.#drop(this.#head + 1);
    }
  }

  /** Throws unless the state at this revision can be read. */
  check(revision: number, compacted = this.compacted): void {
    if (revision > this.revision) throw new StoreAhead(this.revision);
    if (revision < compacted) throw new StoreCompacted(compacted);
  }

  read(after: number, limit: number): HistoryPage {
    this.check(after);
    const start = this.#indexAfter(after);
    let end = Math.min(start + limit, this.#entries.length);
    while (end > start && end < this.#entries.length && this.#revisionAt(end) === this.#revisionAt(end - 1)) end++;
    const more = end < this.#entries.length;
    return {
      changes: this.#entries.slice(start, end).map(({ change }) => change),
      through: more ? this.#revisionAt(end - 1) : this.revision,
      more,
    };
  }

  /** Returns the rows, at a revision, of all keys that have changed since. */
  before(revision: number): Map<string, Row | undefined> {
    const rows = new Map<string, Row | undefined>();
    for (let i = this.#entries.length - 1; i >= this.#head && this.#revisionAt(i) > revision; i--) {
      const { change } = this.#entries[i] as TimedChange;
      rows.set(change.key, change.previous);
    }
    return rows;
  }

  /** Returns the changes of one key, oldest first. */
  of(key: string): TimedChange[] {
    return this.#entries.slice(this.#head).filter(({ change }) => change.key === key);
  }

  /** Discards the entries before this index. */
  #drop(head: number): void {
    for (; this.#head < head; this.#head++) this.#bytes -= heldBy((this.#entries[this.#head] as TimedChange).change);
    if (this.#head * 2 <= this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#head);
    this.#head = 0;
  }

  #revisionAt(index: number): number {
    return (this.#entries[index] as TimedChange).change.revision;
  }

  /** Returns the index of the first change after a revision. */
  #indexAfter(revision: number): number {
    let low = this.#head;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#revisionAt(middle) <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Returns the bytes that only history needs: the replaced value, and the key of a deletion. */
function heldBy({ previous, value, key }: Change): number {
  return (previous?.value.length ?? 0) + (value === null ? key.length : 0);
}

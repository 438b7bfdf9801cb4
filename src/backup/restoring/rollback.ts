/** Computes the rows of an earlier moment from a backup and the history in it. */
import type { HistoryRecord, SavedRow } from '../file/content.ts';

/** Takes the history of a backup first, then its rows. */
export class Rollback {
  readonly #time: number;
  /** Keys that history knows, with their rows at the moment; null: there was none. */
  readonly #rows = new Map<string, SavedRow | null>();
  /** Keys that were changed after the moment. */
  readonly #changed = new Set<string>();
  #isPast = true;
  #undone = 0;

  /** `time` is in milliseconds since the epoch. */
  constructor(time: number) {
    this.#time = time;
  }

  /** Number of changes that are undone. */
  get undone(): number {
    return this.#undone;
  }

  add(record: HistoryRecord): void {
    if (record.type === 'earlier') {
      this.#rows.set(record.row.key, record.row);
      return;
    }
    const { key, revision, time, value } = record.change;
    // Clocks may be set back; revisions never are.
    if (time > this.#time) this.#isPast = false;
    if (this.#isPast) {
      this.#rows.set(key, value && { key, revision, value });
      return;
    }
    this.#undone++;
    this.#changed.add(key);
  }

  /** Reports whether a row of the backup is as it was at the moment. */
  keeps({ key }: SavedRow): boolean {
    return !this.#changed.has(key);
  }

  /** Rows of the moment that have been replaced or deleted since. */
  *earlier(): Generator<SavedRow> {
    for (const key of this.#changed) {
      const row = this.#rows.get(key);
      if (row) yield row;
    }
  }
}

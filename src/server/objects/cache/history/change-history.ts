import type { Origin } from '../../../../store/store.ts';
import type { Table } from '../table.ts';
import type { ChangeRecord } from './change-record.ts';

export interface KeptChange {
  readonly record: ChangeRecord;
  readonly table: Table;
  /** Time when the cache saw the change. */
  readonly time: number;
  readonly origin?: Origin | undefined;
}

/** Age at which a change drops its encoded events: watches that follow the cache have received them by then. */
const SETTLED_AFTER_MS = 2_000;

/** The latest changes of all tables, oldest first, limited by age and bytes. Each table keeps its own part of them. */
export class ChangeHistory {
  #items: (KeptChange | undefined)[] = [];
  #head = 0;
  /** Index of the first change that is not settled. */
  #settled = 0;
  #bytes = 0;

  constructor(readonly limits: { readonly milliseconds: number; readonly bytes: number }) {}

  push(item: KeptChange): void {
    item.table.record(item.record);
    this.#items.push(item);
    this.#bytes += item.record.size;
  }

  /** Returns all changes, oldest first. */
  all(): readonly KeptChange[] {
    return this.#items.slice(this.#head) as KeptChange[];
  }

  /**
   * Puts older changes before the others. They are no younger than the oldest one here, and expire with it: otherwise a
   * client that reads an old state repeatedly would keep it alive indefinitely.
   */
  prepend(older: readonly KeptChange[]): void {
    const oldest = this.#items[this.#head]?.time ?? Number.POSITIVE_INFINITY;
    const byTable = new Map<Table, ChangeRecord[]>();
    for (const { table, record } of older) {
      const records = byTable.get(table);
      if (records) records.push(record);
      else byTable.set(table, [record]);
      this.#bytes += record.size;
    }
    for (const [table, records] of byTable) table.prepend(records);
    const aged = older.map((item) => ({ ...item, time: Math.min(item.time, oldest) }));
    this.#items = [...aged, ...this.#items.slice(this.#head)];
    this.#head = 0;
    this.#settled = 0;
  }

  /** Drops changes that are too old or exceed the size limit. Returns the newest dropped revision, if any. */
  trim(now: number): number | undefined {
    const oldest = now - this.limits.milliseconds;
    let forgotten: number | undefined;
    for (;;) {
      const first = this.#items[this.#head];
      if (!first || (first.time >= oldest && this.#bytes <= this.limits.bytes)) break;
      this.#forget(first);
      forgotten = first.record.revision;
    }
    this.#settle(now - SETTLED_AFTER_MS);
    if (this.#head > 4096 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#settled -= this.#head;
      this.#head = 0;
    }
    return forgotten;
  }

  clear(): void {
    for (let first = this.#items[this.#head]; first; first = this.#items[this.#head]) this.#forget(first);
    this.#items = [];
    this.#head = 0;
    this.#settled = 0;
  }

  #settle(before: number): void {
    this.#settled = Math.max(this.#settled, this.#head);
    for (;;) {
      const next = this.#items[this.#settled];
      if (!next || next.time > before) return;
      next.record.settle();
      this.#settled++;
    }
  }

  #forget(item: KeptChange): void {
    // The array slot stays for a while, but its content must be released: the objects may be large.
    this.#items[this.#head++] = undefined;
    this.#bytes -= item.record.size;
    item.table.forgetOldest();
  }
}

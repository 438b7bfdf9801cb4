import type { ChangeRecord } from './change-record.ts';
import type { Table } from './table.ts';

export interface KeptChange {
  readonly record: ChangeRecord;
  readonly table: Table;
  /** When the cache saw it. */
  readonly time: number;
}

/** For how long a change keeps what its watches were sent: those that follow the cache have got it by then. */
const SETTLED_AFTER_MS = 2_000;

/** The latest changes of all tables, oldest first, bounded in age and bytes. Each table holds its own part of them. */
export class ChangeHistory {
  #items: (KeptChange | undefined)[] = [];
  #head = 0;
  /** The changes before this one have been settled. */
  #settled = 0;
  #bytes = 0;

  constructor(readonly limits: { readonly milliseconds: number; readonly bytes: number }) {}

  push(item: KeptChange): void {
    item.table.record(item.record);
    this.#items.push(item);
    this.#bytes += item.record.size;
  }

  /**
   * Puts older changes in front. They are no younger than the oldest one here, and are forgotten with it: otherwise a client
   * that reads an old state again and again would keep it for good.
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

  /** Drops changes that are too old or too many. Returns the newest revision that was dropped, if any. */
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
    // The place stays for a while; what was in it must not: the objects may be large.
    this.#items[this.#head++] = undefined;
    this.#bytes -= item.record.size;
    item.table.forgetOldest();
  }
}

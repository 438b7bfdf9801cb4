import type { ChangeRecord } from './change-record.ts';
import type { Table } from './table.ts';

export interface KeptChange {
  readonly record: ChangeRecord;
  readonly table: Table;
  /** When the cache saw it. */
  readonly time: number;
}

/** The latest changes of all tables, oldest first, bounded in age and bytes. Each table holds its own part of them. */
export class ChangeHistory {
  #items: KeptChange[] = [];
  #head = 0;
  #bytes = 0;

  constructor(readonly limits: { readonly milliseconds: number; readonly bytes: number }) {}

  push(item: KeptChange): void {
    item.table.record(item.record);
    this.#items.push(item);
    this.#bytes += item.record.size;
  }

  /** Puts older changes in front. */
  prepend(older: readonly KeptChange[]): void {
    const byTable = new Map<Table, ChangeRecord[]>();
    for (const { table, record } of older) {
      const records = byTable.get(table);
      if (records) records.push(record);
      else byTable.set(table, [record]);
      this.#bytes += record.size;
    }
    for (const [table, records] of byTable) table.prepend(records);
    this.#items = [...older, ...this.#items.slice(this.#head)];
    this.#head = 0;
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
    if (this.#head > 4096 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return forgotten;
  }

  clear(): void {
    for (let first = this.#items[this.#head]; first; first = this.#items[this.#head]) this.#forget(first);
    this.#items = [];
    this.#head = 0;
  }

  #forget(item: KeptChange): void {
    this.#head++;
    this.#bytes -= item.record.size;
    item.table.forgetOldest();
  }
}

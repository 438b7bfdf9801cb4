/** A store on etcd, with the revisions of the store that was copied into it. */
import {
  type Change,
  type Condition,
  type ListOptions,
  type Origin,
  type Row,
  type Rows,
  type Store,
  StoreAhead,
  StoreCompacted,
  StoreConflict,
  type Subscription,
  type Watcher,
  type Write,
} from '../../store.ts';
import type { Numbering } from './numbering.ts';

export class RenumberedStore implements Store {
  constructor(
    private readonly inner: Store,
    private readonly numbering: Numbering,
  ) {}

  async revision(): Promise<number> {
    return this.numbering.ofState(await this.inner.revision());
  }

  async get(key: string): Promise<Row | undefined> {
    const row = await this.inner.get(key);
    return row && this.#row(row);
  }

  async list(prefix: string, options: ListOptions = {}): Promise<Rows> {
    const { damaged, revision } = options;
    const found = await this.inner
      .list(prefix, {
        ...options,
        revision: revision === undefined ? undefined : this.numbering.ofStateInEtcd(revision),
        damaged: damaged && ((row) => damaged({ ...row, revision: this.numbering.ofRow(row.revision) })),
      })
      .catch((error: unknown) => Promise.reject(this.#error(error)));
    return {
      ...found,
      rows: found.rows.map((row) => this.#row(row)),
      revision: revision ?? this.numbering.ofState(found.revision),
    };
  }

  async commit(writes: readonly Write[], conditions: readonly Condition[] = [], origin?: Origin): Promise<number> {
    const numbering = this.numbering;
    const revision = await this.inner
      .commit(
        writes.map((write) =>
          write.expect === undefined ? write : { ...write, expect: numbering.ofRowInEtcd(write.expect) },
        ),
        conditions.map((each) => ({ ...each, revision: numbering.ofRowInEtcd(each.revision) })),
        origin,
      )
      .catch((error: unknown) => Promise.reject(this.#error(error)));
    return numbering.ofState(revision);
  }

  watch(after: number, watcher: Watcher): Subscription {
    return this.inner.watch(this.numbering.ofStateInEtcd(after), {
      prefix: watcher.prefix,
      changes: (batch) => watcher.changes(batch.map((change) => this.#change(change))),
      progress: watcher.progress && ((revision) => watcher.progress?.(this.numbering.ofState(revision))),
      closed: (error) => watcher.closed(error && (this.#error(error) as Error)),
    });
  }

  async compact(revision: number): Promise<void> {
    await this.inner
      .compact(this.numbering.ofStateInEtcd(revision))
      .catch((error: unknown) => Promise.reject(this.#error(error)));
  }

  abandon(): void {
    this.inner.abandon?.();
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  #row(row: Row): Row {
    return { ...row, revision: this.numbering.ofRow(row.revision) };
  }

  #change(change: Change): Change {
    const { revision, previous } = change;
    return { ...change, revision: this.numbering.ofRow(revision), previous: previous && this.#row(previous) };
  }

  #error(error: unknown): unknown {
    if (error instanceof StoreConflict) return new StoreConflict(error.key, this.numbering.ofRow(error.revision));
    if (error instanceof StoreCompacted) return new StoreCompacted(this.numbering.ofState(error.oldest));
    if (error instanceof StoreAhead) return new StoreAhead(this.numbering.ofState(error.revision));
    return error;
  }
}

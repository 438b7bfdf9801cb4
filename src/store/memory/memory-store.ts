import { silent } from '../../base/log.ts';
import { HISTORY_BYTES, HISTORY_MILLISECONDS, type HistoryOptions } from '../history-options.ts';
import { checkWrites, compareKeys } from '../keys.ts';
import {
  type Change,
  type Condition,
  type ListOptions,
  type Origin,
  type Row,
  type Rows,
  type Store,
  StoreConflict,
  StoreUnavailable,
  type Subscription,
  type Watcher,
  type Write,
} from '../store.ts';
import { Watchers } from '../watchers.ts';
import { ChangeLog, type TimedChange } from './change-log.ts';

/** Keys in store order. Inserting moves the keys after it, which is cheap up to some hundred thousand keys. */
class SortedKeys {
  readonly #keys: string[];

  /** `keys` must be in order. */
  constructor(keys: readonly string[] = []) {
    this.#keys = [...keys];
  }

  add(key: string): void {
    this.#keys.splice(this.#lowerBound(key), 0, key);
  }

  remove(key: string): void {
    this.#keys.splice(this.#lowerBound(key), 1);
  }

  /** Keys with the prefix, after `after`. */
  *scan(prefix: string, after = ''): Generator<string> {
    const start = compareKeys(after, prefix) > 0 ? after : prefix;
    for (let i = this.#lowerBound(start); i < this.#keys.length; i++) {
      const key = this.#keys[i] as string;
      if (!key.startsWith(prefix)) return;
      if (key !== after) yield key;
    }
  }

  #lowerBound(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareKeys(this.#keys[middle] as string, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The content of a memory store at one revision. Immutable. */
export interface StoreImage {
  readonly revision: number;
  /** Rows in key order. */
  readonly rows: readonly Row[];
}

export interface MemoryStoreOptions extends HistoryOptions {
  /** Initial content of the store; its history begins there. */
  readonly image?: StoreImage | undefined;
}

/** A store in memory, for tests and throw-away clusters. */
export class MemoryStore implements Store {
  readonly #rows: Map<string, Row>;
  readonly #keys: SortedKeys;
  readonly #changes: ChangeLog;
  readonly #watchers: Watchers;
  #closed = false;

  constructor(private readonly options: MemoryStoreOptions) {
    const { image } = options;
    this.#rows = new Map(image?.rows.map((row) => [row.key, row]));
    this.#keys = new SortedKeys(image?.rows.map(({ key }) => key));
    this.#changes = new ChangeLog(image?.revision);
    this.#watchers = new Watchers(this.#changes, options.log ?? silent);
  }

  revision(): number {
    return this.#changes.revision;
  }

  async get(key: string): Promise<Row | undefined> {
    this.#checkOpen();
    return this.#rows.get(key);
  }

  async list(prefix: string, options: ListOptions = {}): Promise<Rows> {
    this.#checkOpen();
    const revision = options.revision ?? this.#changes.revision;
    this.#changes.check(revision);
    const rows: Row[] = [];
    for (const row of this.#rowsAt(revision, prefix, options.after)) {
      if (rows.length === options.limit) return { rows, revision, more: true };
      rows.push(row);
    }
    return { rows, revision, more: false };
  }

  async commit(writes: readonly Write[], conditions: readonly Condition[] = [], origin?: Origin): Promise<number> {
    this.#checkOpen();
    checkWrites(writes, Number.POSITIVE_INFINITY);
    for (const { key, expect } of writes) if (expect !== undefined) this.#compare(key, expect);
    for (const { key, revision } of conditions) this.#compare(key, revision);
    const changes = this.#apply(writes, origin);
    const { revision } = this.#changes;
    // Changes are delivered in a separate microtask, so that a watcher may commit without changing their order.
    await undefined;
    this.#watchers.publish(changes);
    return revision;
  }

  /** Returns the current content. */
  image(): StoreImage {
    const rows = Array.from(this.#keys.scan(''), (key) => this.#rows.get(key)!);
    return { revision: this.#changes.revision, rows };
  }

  /** Returns the changes of a key that are in history, oldest first. */
  historyOf(key: string): TimedChange[] {
    return this.#changes.of(key);
  }

  #compare(key: string, wanted: number): void {
    const revision = this.#rows.get(key)?.revision ?? 0;
    if (revision !== wanted) throw new StoreConflict(key, revision);
  }

  watch(after: number, watcher: Watcher): Subscription {
    return this.#watchers.watch(after, watcher);
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen();
    this.#changes.compact(revision);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#watchers.close();
  }

  #apply(writes: readonly Write[], origin: Origin | undefined): Change[] {
    const { clock, historyMilliseconds = HISTORY_MILLISECONDS, historyBytes = HISTORY_BYTES } = this.options;
    const revision = this.#changes.revision + 1;
    const time = clock.now();
    const changes: Change[] = [];
    for (const { key, value } of writes) {
      const previous = this.#rows.get(key);
      if (value !== null) {
        if (!previous) this.#keys.add(key);
        this.#rows.set(key, { key, value, revision });
      } else if (previous) {
        this.#keys.remove(key);
        this.#rows.delete(key);
      } else continue;
      changes.push({ key, revision, value, previous, origin, time });
    }
    this.#changes.append(changes, time);
    this.#changes.trim(time - historyMilliseconds, historyBytes);
    return changes;
  }

  *#rowsAt(revision: number, prefix: string, after = ''): Generator<Row> {
    const before = this.#changes.before(revision);
    for (const key of this.#keysAt(before, prefix, after)) {
      const row = before.has(key) ? before.get(key) : this.#rows.get(key);
      if (row) yield row;
    }
  }

  /** Yields existing keys, and those that existed before the changes in `before`. */
  #keysAt(before: ReadonlyMap<string, unknown>, prefix: string, after: string): Iterable<string> {
    const current = this.#keys.scan(prefix, after);
    if (before.size === 0) return current;
    const gone = [...before.keys()].filter((key) => key.startsWith(prefix) && compareKeys(key, after) > 0);
    return [...new Set([...current, ...gone])].sort(compareKeys);
  }

  #checkOpen(): void {
    if (this.#closed) throw new StoreUnavailable('the store is closed');
  }
}

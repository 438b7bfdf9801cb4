/**
 * The content of the store in memory, as objects: all reads and watches are served from here. The cache follows the
 * store through one watch, so that it is never ahead of durable state, and it keeps the latest changes, so that watches
 * and exact lists can start in the past.
 */
import { tooOld } from '../../../api/errors.ts';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import { ShortLivedMap } from '../../../base/collections/short-lived-map.ts';
import type { Tools } from '../../../base/tools.ts';
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import {
  type Change,
  type DamagedRow,
  type Row,
  type Store,
  StoreCompacted,
  StoreDamaged,
  type Subscription,
  type Write,
} from '../../../store/store.ts';
import type { Encoded } from './entry/encoding.ts';
import { Entry } from './entry/entry.ts';
import type { Marks } from './entry/own-image.ts';
import { Provenances } from './entry/provenance.ts';
import { ChangeHistory, type KeptChange } from './history/change-history.ts';
import { ChangeRecord } from './history/change-record.ts';
import type { ObjectKey } from './keys.ts';
import { parseKey, ROOT, tableName } from './keys.ts';
import { Table } from './table.ts';

export interface CacheOptions extends Pick<Tools, 'clock' | 'log'> {
  readonly store: Store;
  readonly historyMilliseconds: number;
  readonly historyBytes: number;
  /** True to freeze objects, so that a test detects code that changes one. */
  readonly freeze: boolean;
  /** Records which definition wrote each object. Absent: all objects of other processes are decoded before serving. */
  readonly marks?: Marks | undefined;
}

export interface Written {
  readonly at: ObjectKey;
  readonly kind: Kind;
  readonly object: KubeObject;
  readonly encoded: Encoded;
}

const PAGE_ROWS = 2000;
const HISTORY_TIMEOUT_MS = 5000;
const RESYNC_DELAY_MS = 1000;

/** Placeholder for the bytes of a value that cannot be read. */
const NOTHING = Buffer.alloc(0);

export class Cache {
  readonly #tables = new Map<string, Table>();
  readonly #history: ChangeHistory;
  readonly #provenances: Provenances;
  readonly #byKind = new WeakMap<object, Table>();
  #subscription: Subscription | undefined;
  #waiters: { revision: number; resolve: () => void }[] = [];
  #asking: Promise<void> | undefined;
  #turnListeners = new Set<() => void>();
  #filling: Promise<void> | undefined;
  /** Objects that this process is writing, by key: when the store reports the change, nothing needs to be parsed. */
  readonly #written = new ShortLivedMap<string, Written>();
  #closed = false;
  /** True while changes of the store arrive; false while everything is read again after a watch has ended. */
  isFollowing = false;
  /** The newest revision that the cache has applied. */
  revision = 0;
  /** The revision after which all changes are kept. */
  floor = 0;

  constructor(readonly options: CacheOptions) {
    this.#history = new ChangeHistory({ milliseconds: options.historyMilliseconds, bytes: options.historyBytes });
    this.#provenances = new Provenances({ frozen: options.freeze, log: options.log, marks: options.marks });
  }

  async start(): Promise<void> {
    const revision = await this.#load((row) => this.#place(row));
    this.revision = revision;
    this.floor = revision;
    this.#follow();
  }

  close(): void {
    this.#closed = true;
    this.isFollowing = false;
    this.#subscription?.stop();
  }

  /** Returns the table of a kind, cached by the kind itself: building the name costs more than the lookup. */
  table(kind: Pick<Kind, 'group' | 'plural'>): Table {
    return getOrInsert(this.#byKind, kind, () => this.tableNamed(tableName(kind)));
  }

  tableNamed(name: string): Table {
    return getOrInsert(this.#tables, name, () => new Table(name));
  }

  /** Counts the objects in a namespace, by the name of their table. */
  contentOf(namespace: string): ReadonlyMap<string, number> {
    const counts = [...this.#tables].map(([name, table]) => [name, table.count(namespace)] as const);
    return new Map(counts.filter(([, count]) => count > 0));
  }

  entry(key: string): Entry | undefined {
    const parts = parseKey(key);
    return parts && this.#tables.get(parts.table)?.get(parts.namespace, parts.name);
  }

  entryOf(at: ObjectKey, revision: number, stored: Buffer): Entry {
    return new Entry(at, revision, { stored, provenance: this.#provenances.stored });
  }

  #ownEntry({ at, kind, object, encoded }: Written, revision: number): Entry {
    const { bytes: stored, parts } = encoded;
    return new Entry(at, revision, { stored, parts, written: object, provenance: this.#provenances.own(kind) });
  }

  /** Registers a listener that runs after each batch of changes has been applied. */
  onTurn(listener: () => void): () => void {
    this.#turnListeners.add(listener);
    return () => this.#turnListeners.delete(listener);
  }

  /** Announces an object that is about to be written. Returns a write that must accompany it, if any. */
  announce(written: Written): Write | undefined {
    this.#written.set(written.at.key, written);
    return this.options.marks?.missing(written.kind);
  }

  /** Ends an announcement: the write has failed, or the cache has seen it. */
  forget(written: Written): void {
    if (this.#written.get(written.at.key) === written) this.#written.delete(written.at.key);
  }

  /** Resolves when the cache has seen everything that was durable at the call; undefined when it already has. */
  fresh(): Promise<void> | undefined {
    // A pending request may have been answered before this call: wait for the next one.
    if (this.#asking) return this.#asking.then(() => this.fresh());
    const revision = this.options.store.revision();
    if (typeof revision === 'number') return this.reached(revision);
    const asked = revision.then((newest) => this.reached(newest));
    this.#asking = asked.finally(() => {
      this.#asking = undefined;
    });
    this.#asking.catch(() => undefined);
    return asked;
  }

  /** Resolves when the cache has seen this revision; undefined when it already has. */
  reached(revision: number): Promise<void> | undefined {
    return this.waiter(revision)?.done;
  }

  /** Waits for a revision and can be cancelled; undefined when there is nothing to wait for. */
  waiter(revision: number): { done: Promise<void>; cancel: () => void } | undefined {
    if (revision <= this.revision) return undefined;
    const waiter = { revision, resolve: () => {} };
    const done = new Promise<void>((resolve) => {
      waiter.resolve = resolve;
    });
    this.#waiters.push(waiter);
    return {
      done,
      cancel: () => {
        this.#waiters = this.#waiters.filter((each) => each !== waiter);
      },
    };
  }

  /** Ensures that every change after `revision` is kept. Rejects with 410 Expired when that history is gone. */
  async remember(revision: number): Promise<void> {
    while (revision < this.floor) {
      this.#filling ??= this.#fill(revision).finally(() => {
        this.#filling = undefined;
      });
      await this.#filling;
    }
  }

  /** The kept changes of all objects, oldest first. All changes after `floor` are among them. */
  get changes(): readonly KeptChange[] {
    return this.#history.all();
  }

  #follow(): void {
    this.#subscription = this.options.store.watch(this.revision, {
      changes: (batch) => this.#apply(batch),
      progress: (revision) => this.#seen(revision, this.options.clock.now()),
      closed: (error) => this.#lost(error),
    });
    this.isFollowing = true;
  }

  #apply(batch: readonly Change[]): void {
    const time = this.options.clock.now();
    for (const change of batch) this.#applyOne(change, time);
    const last = batch.at(-1);
    if (last) this.#seen(last.revision, time);
  }

  #applyOne(change: Change, time: number): void {
    const written = change.value ? this.#ownWrite(change.key, change.value) : undefined;
    const parts = parseKey(change.key);
    if (!parts) {
      this.options.marks?.changed(change);
      return;
    }
    const { origin } = change;
    const table = this.tableNamed(parts.table);
    const previous = table.get(parts.namespace, parts.name);
    const at = written?.at ?? previous?.at ?? { key: change.key, namespace: parts.namespace, name: parts.name };
    if (change.value) {
      const entry = written
        ? this.#ownEntry(written, change.revision)
        : this.entryOf(at, change.revision, change.value);
      table.put(entry);
      this.#record(table, { record: new ChangeRecord(change.revision, at, entry, previous), time, origin });
    } else if (previous) {
      table.remove(parts.namespace, parts.name);
      this.#record(table, { record: new ChangeRecord(change.revision, at, undefined, previous), time, origin });
    }
  }

  /** Returns the announced object of a change, whose buffer is the given one or, over a network, a copy. */
  #ownWrite(key: string, value: Buffer): Written | undefined {
    const written = this.#written.get(key);
    const bytes = written?.encoded.bytes;
    return bytes && (bytes === value || bytes.equals(value)) ? written : undefined;
  }

  #record(table: Table, change: Omit<KeptChange, 'table'>): void {
    const { record, time, origin } = change;
    this.#history.push({ record, table, time, origin });
    for (const listener of table.listeners) this.#notify(listener, record);
    record.previous?.retire();
  }

  /** Calls a listener. One that fails must not withhold a change from other listeners or from readers. */
  #notify(listener: (record: ChangeRecord) => void, record: ChangeRecord): void {
    try {
      listener(record);
    } catch (error) {
      this.options.log.error('a listener of the cache failed', { key: record.at.key, error });
    }
  }

  #seen(revision: number, time: number): void {
    this.revision = revision;
    // History being read from the store is put before the oldest change here, which must still exist then.
    if (!this.#filling) this.floor = this.#history.trim(time) ?? this.floor;
    for (const listener of this.#turnListeners) listener();
    if (this.#waiters.length > 0) {
      const ready = this.#waiters.filter((waiter) => waiter.revision <= revision);
      this.#waiters = this.#waiters.filter((waiter) => waiter.revision > revision);
      for (const waiter of ready) waiter.resolve();
    }
  }

  /** Handles the end of the watch on the store: reads everything again and continues from there. */
  #lost(error: Error | undefined): void {
    if (this.#closed) return;
    if (!(error instanceof StoreCompacted)) {
      if (error) this.options.log.warn('the watch on the store ended', { error: error.message });
      else return;
    }
    this.isFollowing = false;
    void this.#resync();
  }

  async #resync(): Promise<void> {
    const { clock, log } = this.options;
    try {
      const found = new Map<string, Row | DamagedRow>();
      const revision = await this.#load((row) => found.set(row.key, row));
      const time = clock.now();
      for (const table of this.#tables.values()) {
        for (const entry of [...table.entries('')]) {
          if (!found.has(entry.at.key))
            this.#applyOne({ key: entry.at.key, revision, value: null, previous: undefined }, time);
        }
      }
      for (const row of found.values()) {
        const parts = parseKey(row.key);
        if (!parts) continue;
        const known = this.tableNamed(parts.table).get(parts.namespace, parts.name);
        if (known?.revision === row.revision) continue;
        if ('error' in row) this.#place(row);
        else this.#applyOne({ ...row, previous: undefined }, time);
      }
      // The kept changes may be incomplete.
      this.#history.clear();
      this.floor = revision;
      this.#seen(revision, time);
      this.#follow();
    } catch (error) {
      if (this.#closed) return;
      log.warn('the store could not be read, trying again', { error: String(error) });
      clock.timer(RESYNC_DELAY_MS, () => void this.#resync());
    }
  }

  /** Reads the changes between `after` and the floor from the store, and puts them before the kept ones. */
  #fill(after: number): Promise<void> {
    const target = this.floor;
    const older: Change[] = [];
    return new Promise((resolve, reject) => {
      const done = (error?: Error) => {
        subscription?.stop();
        giveUp.cancel();
        if (error) return reject(this.#historyError(error, after, target));
        // A lost watch on the store may have cleared the history in the meantime.
        if (target === this.floor) this.#prepend(older, after);
        resolve();
      };
      const giveUp = this.options.clock.timer(HISTORY_TIMEOUT_MS, () => done(tooOld(after, target)));
      const subscription: Subscription | undefined = this.options.store.watch(after, {
        changes: (batch) => {
          for (const change of batch) if (change.revision <= target) older.push(change);
          if ((batch.at(-1)?.revision ?? 0) >= target) queueMicrotask(() => done());
        },
        closed: (error) => done(error ?? tooOld(after, target)),
      });
    });
  }

  /** Returns the error for unreadable history, which counts as gone: clients list again. */
  #historyError(error: Error, after: number, oldest: number): Error {
    if (error instanceof StoreCompacted) return tooOld(after, error.oldest);
    if (!(error instanceof StoreDamaged)) return error;
    this.options.log.error('history cannot be read from the store', { key: error.key, error: error.message });
    return tooOld(after, oldest);
  }

  #prepend(older: readonly Change[], after: number): void {
    const time = this.options.clock.now();
    const items: KeptChange[] = [];
    const latest = new Map<string, Entry>();
    for (const change of older) {
      const parts = parseKey(change.key);
      if (!parts) continue;
      const at = { key: change.key, namespace: parts.namespace, name: parts.name };
      const before = change.previous;
      const previous = latest.get(change.key) ?? (before ? this.entryOf(at, before.revision, before.value) : undefined);
      const entry = change.value ? this.entryOf(at, change.revision, change.value) : undefined;
      if (entry) latest.set(change.key, entry);
      else latest.delete(change.key);
      const record = new ChangeRecord(change.revision, at, entry, previous);
      items.push({ record, table: this.tableNamed(parts.table), time, origin: change.origin });
    }
    this.#history.prepend(items);
    this.floor = after;
  }

  async #load(take: (row: Row | DamagedRow) => void): Promise<number> {
    const { store } = this.options;
    const options = { limit: PAGE_ROWS, damaged: take };
    let page = await store.list(ROOT, options);
    const { revision } = page;
    for (;;) {
      for (const row of page.rows) take(row);
      const last = page.rows.at(-1);
      if (!page.more || !last) return revision;
      page = await store.list(ROOT, { ...options, revision, after: last.key });
    }
  }

  /** Adds a row. One that cannot be read becomes an entry that reports the error on every access. */
  #place(row: Row | DamagedRow): void {
    const parts = parseKey(row.key);
    if (!parts) return;
    const at = { key: row.key, namespace: parts.namespace, name: parts.name };
    const entry =
      'error' in row
        ? new Entry(at, row.revision, { stored: NOTHING, damage: row.error, provenance: this.#provenances.stored })
        : this.entryOf(at, row.revision, row.value);
    this.tableNamed(parts.table).put(entry);
  }
}

/**
 * The contract of a store: ordered keys, one revision counter for everything, compare-and-set, prefix lists at a revision,
 * watches from a revision, compaction. Values are bytes. One suite tests all implementations
 * (test/support/store/contract.ts).
 *
 * Every implementation guarantees:
 * - commit() resolves when the writes are on disk (memory: at once); from then on every reader and watcher sees them.
 * - Revisions start at 1, increase with every commit, and are never reused, whatever crashes.
 * - A commit is atomic, and its writes share one revision. Compare-and-set sees commits that are still in progress.
 * - A watcher gets every change after its revision once, in order; changes of one revision come in one batch.
 * - A value is returned as it was written, or the call rejects with StoreDamaged.
 */
export interface Store {
  /** The newest revision that readers can see. A promise when other processes may write to the store. */
  revision(): number | Promise<number>;

  get(key: string): Promise<Row | undefined>;

  /** Rows whose keys start with `prefix`, in key order (bytewise). */
  list(prefix: string, options?: ListOptions): Promise<Rows>;

  /**
   * Performs all writes and resolves with their revision, or performs none and rejects with a StoreConflict. Conditions
   * are other keys that the writes depend on. The origin is delivered with the changes.
   */
  commit(writes: readonly Write[], conditions?: readonly Condition[], origin?: Origin): Promise<number>;

  /** Delivers every change after the revision `after`: first from history, then live. */
  watch(after: number, watcher: Watcher): Subscription;

  /** Discards history up to and including this revision: lists at, and watches from, an earlier one fail. */
  compact(revision: number): Promise<void>;

  /** Completes what is in progress, and closes watchers, files and connections. */
  close(): Promise<void>;

  /** Gives up every request that waits for an answer, and rejects further ones. Absent when nothing waits for other programs. */
  abandon?(): void;
}

export interface Row {
  readonly key: string;
  readonly value: Buffer;
  /** The revision of the last write to the key. */
  readonly revision: number;
}

export interface ListOptions {
  /** The state as of this revision; default: the newest. Rejects with StoreCompacted when it was discarded. */
  readonly revision?: number;
  /** Starts after this key. */
  readonly after?: string;
  readonly limit?: number;
  /**
   * Called for each row whose value cannot be read, in place of the row; default: the list rejects with the first
   * error.
   */
  damaged?(row: DamagedRow): void;
}

/** A row whose value cannot be read. */
export interface DamagedRow {
  readonly key: string;
  readonly revision: number;
  readonly error: StoreDamaged;
}

export interface Rows {
  readonly rows: readonly Row[];
  /** The revision of the list. */
  readonly revision: number;
  /** True when `limit` was reached and there are more rows. */
  readonly more: boolean;
}

export interface Write {
  readonly key: string;
  /**
   * The new value; null deletes. The store takes ownership of the bytes: the caller must not change them afterwards. A
   * watcher in the same process gets the same buffer, unless the store is on a network.
   */
  readonly value: Buffer | null;
  /** The revision that the key must have; 0: it must not exist; absent: any. */
  readonly expect?: number;
  /** The value at the expected revision, if the caller has it, so that the store need not read it. */
  readonly replaces?: Buffer | undefined;
  /** Allows overwriting a value that cannot be read; otherwise the commit rejects with StoreDamaged. */
  readonly evenIfDamaged?: boolean;
}

/** A key that a commit does not write, but that must have this revision; 0: it must not exist. */
export interface Condition {
  readonly key: string;
  readonly revision: number;
}

/** Who asked for a commit. */
export interface Origin {
  readonly user: string;
  /** User agent. */
  readonly client?: string | undefined;
  /** Field manager. */
  readonly manager?: string | undefined;
  /** ID of the request. */
  readonly request?: string | undefined;
  /** True when only the status of an object was written, or a heartbeat. */
  readonly isStatus?: boolean | undefined;
}

export interface Change {
  readonly key: string;
  readonly revision: number;
  /** The new value; null for a deletion. */
  readonly value: Buffer | null;
  /** The row before the change; undefined when the change created the key. */
  readonly previous: Row | undefined;
  /**
   * Who asked for the commit; undefined when it did not say so. Delivered to watches of all keys; those with a prefix may get
   * none.
   */
  readonly origin?: Origin | undefined;
  /** Time of the commit, in milliseconds since the epoch; undefined when the store does not know it. */
  readonly time?: number | undefined;
}

export interface Watcher {
  /** Limits the watch to keys with this prefix; default: all keys. */
  readonly prefix?: string;
  /** Called with a batch, which has all changes of its revisions. */
  changes(batch: readonly Change[]): void;
  /**
   * Called when all changes up to this revision were delivered; revisions since the last change belong to other keys.
   */
  progress?(revision: number): void;
  /**
   * Called when the watch has ended: with StoreCompacted, StoreUnavailable, StoreDamaged, or undefined after close().
   * Not called after stop().
   */
  closed(error: Error | undefined): void;
}

export interface Subscription {
  stop(): void;
}

/** A failed compare-and-set. `revision` is the actual revision of the key, 0 when it does not exist. */
export class StoreConflict extends Error {
  override readonly name = 'StoreConflict';
  constructor(
    readonly key: string,
    readonly revision: number,
  ) {
    super(`the key ${key} has revision ${revision}`);
  }
}

/** A request for discarded history. `oldest` is the oldest revision that a watch or a list can still start from. */
export class StoreCompacted extends Error {
  override readonly name = 'StoreCompacted';
  constructor(readonly oldest: number) {
    super(`history before revision ${oldest} has been compacted`);
  }
}

/** A request for a revision that does not exist yet. */
export class StoreAhead extends Error {
  override readonly name = 'StoreAhead';
  constructor(readonly revision: number) {
    super(`revision is ahead of the store's ${revision}`);
  }
}

/** A store that cannot be reached, or is closed. The request may be retried. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** A write that has waited too long for the end of a pause in writes. Nothing was written. */
export class StorePaused extends Error {
  override readonly name = 'StorePaused';
}

/** A store without space for the write. Nothing was written; reads still work. */
export class StoreFull extends Error {
  override readonly name = 'StoreFull';
}

/** Stored data that is damaged, or cannot be decrypted. `key` is set when only the value of that key is affected. */
export class StoreDamaged extends Error {
  override readonly name: string = 'StoreDamaged';
  readonly key: string | undefined;

  constructor(message: string, options?: { readonly key?: string | undefined; readonly cause?: unknown }) {
    super(message, options);
    this.key = options?.key;
  }
}

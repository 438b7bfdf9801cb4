/**
 * What the server needs of a store: ordered keys, one revision counter for everything, compare-and-set, prefix lists at
 * a revision, watches from a revision, compaction. A store holds bytes and knows no kind. The contract suite
 * (contract.ts) runs on every implementation.
 *
 * Promises of every implementation:
 * - commit() resolves when the writes are on disk (memory: at once), and then every reader and watcher sees them.
 * - Revisions start at 1, grow with every commit, and never go back or come twice, whatever crashes.
 * - A commit is all or nothing; its writes share one revision. Compare-and-set sees commits that are still under way.
 * - A watcher gets every change after its revision once, in order; changes of one revision come in one batch.
 */
export interface Store {
  /** The newest revision that readers may see. A store that others write to asks for it. */
  revision(): number | Promise<number>;

  get(key: string): Promise<Row | undefined>;

  /** Rows whose keys start with `prefix`, in key order (bytewise). */
  list(prefix: string, options?: ListOptions): Promise<Rows>;

  /**
   * Performs all writes, or none: then it rejects with a StoreConflict. Resolves with the revision. Other keys that the
   * writes depend on are conditions.
   */
  commit(writes: readonly Write[], conditions?: readonly Condition[]): Promise<number>;

  /** Every change after the revision `after`, first from history, then as it happens. */
  watch(after: number, watcher: Watcher): Subscription;

  /** Forgets history up to and including this revision: lists at, and watches from, an earlier one fail. */
  compact(revision: number): Promise<void>;

  /** Finishes what is under way and lets go of files and connections. Watchers are closed. */
  close(): Promise<void>;
}

export interface Row {
  readonly key: string;
  readonly value: Buffer;
  /** The revision of the last write to the key. */
  readonly revision: number;
}

export interface ListOptions {
  /** The state as of this revision; default: the newest. Rejects with StoreCompacted when it is gone. */
  readonly revision?: number;
  /** Start behind this key. */
  readonly after?: string;
  readonly limit?: number;
}

export interface Rows {
  readonly rows: readonly Row[];
  /** The revision the list shows. */
  readonly revision: number;
  /** Whether `limit` cut it. */
  readonly more: boolean;
}

export interface Write {
  readonly key: string;
  /**
   * null deletes. The store takes the bytes over, so nobody may change them any more; a watcher in the same process gets
   * the very same buffer, unless it came over a network.
   */
  readonly value: Buffer | null;
  /** The revision that the key must have; 0: it must not exist; absent: no matter. */
  readonly expect?: number;
  /** What the key has at the expected revision, from who knows it by heart: a store need not look it up. */
  readonly replaces?: Buffer | undefined;
}

/** A key that a commit leaves alone, and that must be at this revision for it to happen; 0: it must not exist. */
export interface Condition {
  readonly key: string;
  readonly revision: number;
}

export interface Change {
  readonly key: string;
  readonly revision: number;
  /** null: deleted. */
  readonly value: Buffer | null;
  /** The row before the change; undefined: the key was created. */
  readonly previous: Row | undefined;
}

export interface Watcher {
  /** Only changes of keys that start with this are delivered; default: all. */
  readonly prefix?: string;
  /** A batch holds whole revisions. */
  changes(batch: readonly Change[]): void;
  /** Everything up to this revision has been told: what happened since the last change is nothing of the store's. */
  progress?(revision: number): void;
  /** The watch is over: StoreCompacted, StoreUnavailable, or undefined after close(). Not called after stop(). */
  closed(error: Error | undefined): void;
}

export interface Subscription {
  stop(): void;
}

/** A compare-and-set failed. `revision` is the key's real one, 0 when it does not exist. */
export class StoreConflict extends Error {
  override readonly name = 'StoreConflict';
  constructor(
    readonly key: string,
    readonly revision: number,
  ) {
    super(`the key ${key} has revision ${revision}`);
  }
}

/** The history asked for is gone. `oldest` is the smallest revision that a watch or an exact list may still name. */
export class StoreCompacted extends Error {
  override readonly name = 'StoreCompacted';
  constructor(readonly oldest: number) {
    super(`history before revision ${oldest} has been compacted`);
  }
}

/** The revision asked for has not happened yet. */
export class StoreAhead extends Error {
  override readonly name = 'StoreAhead';
  constructor(readonly revision: number) {
    super(`revision is ahead of the store's ${revision}`);
  }
}

/** The store cannot be reached, or is closed. What was asked may be tried again later. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** No room for the write. Nothing was written; reads go on. */
export class StoreFull extends Error {
  override readonly name = 'StoreFull';
}

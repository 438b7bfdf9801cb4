/**
 * Describes a type of store. `drivers.ts` lists all of them; `qd up`, snapshots, encryption, the bench and the crash
 * tests ask the driver and never compare names. A driver loads its implementation on use, so describing a store costs
 * nothing.
 */
import type { Flag, ValuesOf } from '../base/flag.ts';
import type { HistoryOptions } from './history-options.ts';
import type { Change, Row, Store } from './store.ts';

export interface StoreDriver<Name extends string, Flags extends readonly Flag[], Settings = ValuesOf<Flags>> {
  /** The value of `--store`. */
  readonly name: Name;
  /** Location of the objects, as in "objects are kept in …". */
  readonly location: string;
  /** True when committed writes outlive the process. */
  readonly durable: boolean;
  /** True when several servers may use the store at the same time and see each other's writes. */
  readonly shared: boolean;
  /** True when only one process at a time can write to the store. */
  readonly exclusive: boolean;
  /** The flags specific to this store. */
  readonly flags: Flags;
  /**
   * Checks the settings. Throws a FlagError when they do not go together. Called before anything is created or opened.
   */
  check(settings: Settings): void;
  open(settings: Settings, context: StoreContext): Promise<Store>;
  /**
   * Begins to fill an empty store with what another one can read, under the same revisions. Rejects with StoreNotEmpty when the store
   * has objects. What an earlier copy has left that was interrupted is replaced. Absent when the store is not durable.
   */
  beginCopy?(settings: Settings, context: StoreContext, base: CopyBase): Promise<StoreCopy>;
  /** Moves the store away after another one has taken its place. Returns the path where it is now. */
  retire?(settings: Settings, context: StoreContext): Promise<string | undefined>;
  /** Opens the stored values for reading, also while a server uses them. Absent when only the server can read them. */
  inspect?(settings: Settings, context: StoreContext): Promise<StoredValues>;
  /** The implementation of snapshots, or advice on what to use instead. */
  readonly snapshots: FileSnapshots<Settings> | { readonly instead: string };
}

/** Options that every store is opened with. */
export interface StoreContext extends HistoryOptions {
  /** The data directory of the cluster. */
  readonly directory: string;
}

/** The oldest state that can be read from a store. */
export interface CopyBase {
  /** The oldest revision that lists and watches can start from. */
  readonly oldest: number;
  /** The state as of that revision, in order of revision. */
  readonly rows: readonly Row[];
}

/** Everything that can be read from a store: one state, and the changes since. */
export interface StoreHistory extends CopyBase {
  /** The revisions since, in order. */
  readonly steps: AsyncIterable<HistoryStep>;
}

/** A copy of another store in the making. It cannot be opened until it is complete. */
export interface StoreCopy {
  /** Adds the changes of the next revision. Resolves when more can be added. */
  add(step: HistoryStep): Promise<void>;
  /** Resolves with what reads everything that was added, until the copy is complete. */
  flush(): Promise<Pick<Store, 'list'>>;
  /** Makes the copy a store. Resolves with it, open; nothing can be added any more. */
  complete(): Promise<Store>;
  /** Closes a copy that is not wanted any more. The next one replaces it. */
  abandon(): Promise<void>;
}

/** The changes of one revision; none in the last step when the newest revision changed nothing that can be read. */
export interface HistoryStep {
  readonly revision: number;
  readonly changes: readonly Change[];
}

/** A store that cannot be filled because it has objects. */
export class StoreNotEmpty extends Error {
  override readonly name = 'StoreNotEmpty';
}

/** The stored values in their encoding at rest. */
interface StoredValues {
  /** Calls `visit` with every value in one state of the store, including history when it is readable. */
  visit(visit: (stored: StoredValue) => void): Promise<void>;
  /** Discards history that `visit` could not read. */
  forgetUnreadableHistory(): Promise<void>;
  close(): Promise<void>;
}

export interface StoredValue {
  readonly key: string;
  readonly value: Buffer;
  /** True for the current value of the key; false for history. */
  readonly isNewest: boolean;
}

/** The result of checking a store. */
export interface StoreReport {
  readonly revision: number;
  readonly keys: number;
  /** Values that cannot be read; those without a key have been replaced since. */
  readonly damaged: readonly { readonly key: string | undefined; readonly revision: number }[];
}

/** Snapshots of a store in a single file of the data directory. */
export interface FileSnapshots<Settings> {
  /** Returns the folder of the store of a data directory. */
  pathIn(directory: string, settings: Settings): string;
  /**
   * Copies the store at one revision into the folder `target`, which must not exist. `file` holds all data of the copy.
   */
  copy(path: string, target: string): Promise<{ readonly revision: number; readonly file: string }>;
  /** Checks the whole store, also while a server uses it. Rejects with StoreDamaged when nothing is usable. */
  check(path: string): Promise<StoreReport>;
  /** Checks the data of a store in a file, from byte `start` on. */
  checkFile(file: string, start: number): Promise<StoreReport>;
  /** Deletes the keys whose values cannot be read, and returns them. The store must not be in use. */
  deleteDamaged(path: string): Promise<readonly string[]>;
  /** Creates the folder of a store, and returns the path for its data file. */
  create(path: string): Promise<string>;
  /** Prepares a store whose data was restored. Returns the revision at which it continues. */
  resume(path: string): Promise<{ readonly revision: number }>;
}

/** Infers the types of a driver's settings from its flags. */
export function defineStore<const Name extends string, const Flags extends readonly Flag[]>(
  driver: StoreDriver<Name, Flags>,
): StoreDriver<Name, Flags> {
  return driver;
}

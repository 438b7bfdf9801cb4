/**
 * What a kind of store tells the rest of the program about itself. `drivers.ts` lists them all; `qd up`, snapshots,
 * encryption, the bench and the crash tests ask the driver and never compare names. A driver loads its implementation when
 * it is used, so that describing a store costs nothing.
 */
import type { Flag, ValuesOf } from '../base/flag.ts';
import type { HistoryOptions } from './history-options.ts';
import type { Store } from './store.ts';

export interface StoreDriver<Name extends string, Flags extends readonly Flag[], Settings = ValuesOf<Flags>> {
  /** The value of `--store`. */
  readonly name: Name;
  /** Where objects are, as in "objects are kept in …". */
  readonly location: string;
  /** Whether committed writes outlive the process. */
  readonly durable: boolean;
  /** Whether several servers may use the store at the same time and see each other's writes. */
  readonly shared: boolean;
  /** Whether only one process at a time can write to the store. */
  readonly exclusive: boolean;
  /** The flags that only this store uses. */
  readonly flags: Flags;
  /** Throws a FlagError when the settings do not go together. Called before anything is created or opened. */
  check(settings: Settings): void;
  open(settings: Settings, context: StoreContext): Promise<Store>;
  /** Opens what is stored for reading, also while a server uses it; absent: nobody but the server can read it. */
  inspect?(settings: Settings, context: StoreContext): Promise<StoredValues>;
  /** How snapshots are taken, or what to use in their stead. */
  readonly snapshots: FileSnapshots | { readonly instead: string };
}

/** What every store is opened with. */
export interface StoreContext extends HistoryOptions {
  /** The data directory of the cluster. */
  readonly directory: string;
}

/** The values in a store, as they are at rest. */
interface StoredValues {
  /** Calls `visit` with every value, in one state of the store: also with those in history, where they can be read. */
  visit(visit: (stored: StoredValue) => void): Promise<void>;
  /** Forgets history that `visit` could not read. */
  forgetUnreadableHistory(): Promise<void>;
  close(): Promise<void>;
}

export interface StoredValue {
  readonly key: string;
  readonly value: Buffer;
  /** Whether it is the key's present value; otherwise it is history. */
  readonly isNewest: boolean;
}

/** What a check of a store has found. */
export interface StoreReport {
  readonly revision: number;
  readonly keys: number;
  /** Values that cannot be read; those without a key were replaced since. */
  readonly damaged: readonly { readonly key: string | undefined; readonly revision: number }[];
}

/** Snapshots of a store that lives in one file of the data directory. */
export interface FileSnapshots {
  /** The folder of the store in a data directory. */
  pathIn(directory: string): string;
  /** Copies the store at one revision into the folder `target`, which must not exist. `file` holds all of its data. */
  copy(path: string, target: string): Promise<{ readonly revision: number; readonly file: string }>;
  /** Checks everything in the store, also while a server uses it. Rejects with StoreDamaged when nothing is usable. */
  check(path: string): Promise<StoreReport>;
  /** Checks the same data in a file, from byte `start` on. */
  checkFile(file: string, start: number): Promise<StoreReport>;
  /** Deletes the keys whose values cannot be read, and returns them. Nobody else may use the store. */
  deleteDamaged(path: string): Promise<readonly string[]>;
  /** Creates the folder of a store, and returns the file that its data is to be written to. */
  create(path: string): Promise<string>;
  /** Prepares a store whose data was restored: returns the revision it continues at. */
  resume(path: string): Promise<{ readonly revision: number }>;
}

/** Infers the types of a driver's settings from its flags. */
export function defineStore<const Name extends string, const Flags extends readonly Flag[]>(
  driver: StoreDriver<Name, Flags>,
): StoreDriver<Name, Flags> {
  return driver;
}

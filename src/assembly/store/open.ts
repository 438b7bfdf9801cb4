/** Opens the store of a cluster. */

import type { Archive } from '../../store/archive/archive.ts';
import type { AnyStoreDriver, StoreSettings } from '../../store/drivers.ts';
import type { Store } from '../../store/index.ts';
import { MovableStore } from '../../store/migration/movable-store.ts';
import type { Cleanup } from '../cleanup.ts';
import type { OnRotated, Tools } from '../context.ts';
import { type ArchiveLimits, archiveOf, startArchive } from './archive.ts';
import { encrypting } from './encryption.ts';

export interface StoreOptions extends Tools {
  readonly driver: AnyStoreDriver;
  readonly settings: StoreSettings;
  /** Path of the data directory. */
  readonly directory: string;
  /** The file with the keys that Secrets are encrypted with; undefined: they are not encrypted. */
  readonly keyFile: string | undefined;
  /** How far back watches and lists at a revision can go; undefined: the default. */
  readonly historyMilliseconds?: number | undefined;
  readonly historyBytes?: number | undefined;
  /** Limits of the history on disk; undefined: there is none. */
  readonly archive?: ArchiveLimits | undefined;
  /** Rejects when this program may not use the store; nothing has been written by then. */
  readonly accept?: ((store: Store) => Promise<void>) | undefined;
  readonly cleanup: Cleanup;
  readonly onRotated: OnRotated;
}

export interface OpenStore {
  readonly store: Store;
  /** The store below the encryption, whose place another one can take. */
  readonly movable: MovableStore;
  /** Past states of the store; undefined when none are kept. */
  readonly archive: Archive | undefined;
  /** The same, with values as they are on disk. */
  readonly storedArchive: Archive | undefined;
  /** Opens the archive, and re-encrypts what is not encrypted with the newest key: in the background. */
  goOn(): void;
  /** Gives up what waits for the store. */
  abandon(): void;
}

export async function openStore(options: StoreOptions): Promise<OpenStore> {
  const { driver, settings, directory, keyFile: file, cleanup, clock, random, log, onRotated } = options;
  const { historyMilliseconds, historyBytes } = options;
  const opened = await driver.open(settings, { directory, clock, log, historyMilliseconds, historyBytes });
  const movable = new MovableStore(opened, clock);
  cleanup.add(() => movable.close());
  await options.accept?.(movable);
  const limits = driver.durable ? options.archive : undefined;
  const raw = limits && archiveOf({ store: movable, directory, limits, clock, log, cleanup });
  const start = () => raw && startArchive(raw, log);
  const parts = { movable, storedArchive: raw, abandon: () => movable.abandon() };
  if (file === undefined) return { store: movable, archive: raw, goOn: start, ...parts };
  const { store, archive, encryptStale } = await encrypting(movable, {
    archive: raw,
    file,
    cleanup,
    log,
    random,
    onRotated,
  });
  const goOn = () => {
    start();
    encryptStale();
  };
  return { store, archive, goOn, ...parts };
}

/** Fills a directory with what another store can read. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ifMissing } from '../../../base/files/if-missing.ts';
import { syncDirectory } from '../../../base/files/own/files.ts';
import { makeDirectories } from '../../../base/files/own/make-directories.ts';
import { type CopyBase, type HistoryStep, type StoreCopy, StoreNotEmpty } from '../../driver.ts';
import type { HistoryOptions } from '../../history-options.ts';
import type { Store } from '../../store.ts';
import type { EmbeddedStore } from '../embedded-store.ts';
import { isIncompleteCopy, openEmbeddedStore, writeFormat } from '../open.ts';
import { loadBase } from './load.ts';

/** Revisions that are on their way to the disk: many share a flush. */
const MAX_IN_FLIGHT = 256;

const LOST_AND_FOUND = 'lost+found';

/** Begins a copy in a directory that is empty, is missing, or has a copy that was interrupted. */
export async function beginCopy(directory: string, base: CopyBase, history: HistoryOptions): Promise<StoreCopy> {
  await clear(directory);
  await makeDirectories(directory, 0o700);
  await writeFormat(directory, 'copying');
  await loadBase(directory, base, history.clock);
  return new EmbeddedCopy(directory, await openEmbeddedStore({ ...history, directory, isCopy: true }));
}

/** The format file goes last: it tells that the rest belongs to a copy. */
async function clear(directory: string): Promise<void> {
  const names = (await readdir(directory).catch(ifMissing)) ?? [];
  const found = names.filter((name) => name !== LOST_AND_FOUND && name !== 'format.new');
  if (found.length === 0) return;
  if (!(await isIncompleteCopy(directory))) {
    throw new StoreNotEmpty(`${directory} is not empty, it has ${found[0]}; choose another directory`);
  }
  for (const name of found) if (name !== 'format') await rm(join(directory, name), { recursive: true });
  await rm(join(directory, 'format'));
}

class EmbeddedCopy implements StoreCopy {
  readonly #directory: string;
  readonly #store: EmbeddedStore;
  readonly #inFlight = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  constructor(directory: string, store: EmbeddedStore) {
    this.#directory = directory;
    this.#store = store;
  }

  async add({ revision, changes }: HistoryStep): Promise<void> {
    while (this.#inFlight.size >= MAX_IN_FLIGHT) await Promise.race(this.#inFlight);
    this.#check();
    const write: Promise<void> = this.#store.append(revision, changes).then(
      () => void this.#inFlight.delete(write),
      (error: unknown) => {
        this.#inFlight.delete(write);
        this.#failure ??= { error };
      },
    );
    this.#inFlight.add(write);
  }

  async flush(): Promise<EmbeddedStore> {
    await Promise.all(this.#inFlight);
    this.#check();
    return this.#store;
  }

  async complete(): Promise<Store> {
    await this.flush();
    await writeFormat(this.#directory);
    await syncDirectory(this.#directory);
    return this.#store;
  }

  async abandon(): Promise<void> {
    await this.#store.close();
  }

  #check(): void {
    if (this.#failure) throw this.#failure.error;
  }
}

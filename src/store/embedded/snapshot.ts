/** Snapshots of a store that another process may be writing to: readers of LMDB see one state of its file. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../base/time/clock.ts';
import type { StoreReport } from '../driver.ts';
import { ORIGIN_KEY } from '../origin-row.ts';
import { type DamagedRow, StoreDamaged } from '../store.ts';
import { checkDataFile } from './data-file/check.ts';
import { Database } from './database.ts';
import type { Position } from './layout.ts';
import { MAP_BYTES, openEmbeddedStore, writeFormat } from './open.ts';
import { DATA_FILE, readStore } from './read-only.ts';

/**
 * Gap added to the revision of a restored snapshot. Clients know revisions from after the snapshot was taken; none of
 * them may be reused.
 */
const REVISION_GAP = 1_000_000_000;

/** Copies the current state into a directory that does not exist. Rejects with StoreDamaged unless all of it is intact. */
export async function copyStore(directory: string, target: string): Promise<{ revision: number; file: string }> {
  return readStore(directory, async ({ environment }) => {
    const file = await newStore(target);
    await environment.backup(file, true);
    const { revision, damaged } = await checkStoreFile(file);
    const [first] = damaged;
    if (first) {
      throw new StoreDamaged(`the value of ${first.key ?? 'a key'} at revision ${first.revision} is damaged`, first);
    }
    return { revision, file };
  });
}

/** Checks a store that may be in use. Rejects with StoreDamaged when it cannot be used at all. */
export async function checkStore(directory: string): Promise<StoreReport> {
  return readStore(directory, ({ contents: { state, keys, damaged } }) => ({
    revision: state.revision,
    keys,
    damaged,
  }));
}

/** Checks the data of a store in a file that is not being written, from `start` on. */
export async function checkStoreFile(file: string, start = 0): Promise<StoreReport> {
  const { state, keys, damaged } = await checkDataFile(file, start);
  return { revision: state.revision, keys, damaged };
}

/** Deletes every key whose value cannot be read, and all history: replaced values may be damaged, too. */
export async function deleteDamaged(directory: string): Promise<readonly string[]> {
  const store = await openEmbeddedStore({ directory, clock: systemClock });
  try {
    const found: DamagedRow[] = [];
    await store.list('', { damaged: (row) => found.push(row) });
    for (const { key, revision } of found) {
      await store.commit([{ key, value: null, expect: revision, evenIfDamaged: true }]);
    }
    // No list shows this row, and it says nothing about a state without history.
    await store.commit([{ key: ORIGIN_KEY, value: null, evenIfDamaged: true }]);
    await store.compact(store.revision());
    await store.close();
    await removeUnreferenced(directory);
    return found.map(({ key }) => key);
  } finally {
    await store.close();
  }
}

/** Removes leftover records of discarded history that only a damaged record refers to. */
async function removeUnreferenced(directory: string): Promise<void> {
  const database = new Database(join(directory, DATA_FILE), MAP_BYTES);
  try {
    const idOf = ({ revision, index }: Position) => `${revision}.${index}`;
    const newest = new Set<string>();
    const removedEntries: string[] = [];
    for (const [key, entry] of database.entries(Buffer.alloc(0), undefined)) {
      if (entry.deleted) removedEntries.push(key);
      else newest.add(idOf(entry));
    }
    const removedRecords: Position[] = [];
    for (const [position] of database.records(0)) if (!newest.has(idOf(position))) removedRecords.push(position);
    const state = { ...database.state(), historyBytes: 0 };
    await database.write({ removedRecords, removedEntries, records: [], entries: [], state });
  } finally {
    await database.close();
  }
}

/** Creates the directory of a store, and returns the path of its data file, which does not exist yet. */
export async function newStore(directory: string): Promise<string> {
  await mkdir(directory, { mode: 0o700 });
  await writeFormat(directory);
  return join(directory, DATA_FILE);
}

/** Turns a copy into a store to continue with: without history, and with revisions that were never used. */
export async function continueFrom(directory: string): Promise<{ revision: number }> {
  const store = await openEmbeddedStore({ directory, clock: systemClock });
  await store.compact(store.revision());
  await store.close();
  const database = new Database(join(directory, DATA_FILE), MAP_BYTES);
  try {
    const state = database.state();
    const revision = state.revision + REVISION_GAP;
    const resumed = { ...state, revision, compacted: revision };
    await database.write({ removedRecords: [], removedEntries: [], records: [], entries: [], state: resumed });
    return { revision };
  } finally {
    await database.close();
  }
}

/** Snapshots of a store that another process may be writing to: readers of LMDB see one state of its file. */
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { open } from 'lmdb';
import { systemClock } from '../../base/clock.ts';
import { checkRecords } from './copy-check.ts';
import { Database } from './database.ts';
import { StoreDenied } from './errors.ts';
import { MAP_BYTES, openEmbeddedStore, writeFormat } from './open.ts';

/**
 * Added to the revision of a restored snapshot. Clients know revisions from after the snapshot was taken; none of them may
 * be used again for something else.
 */
const REVISION_GAP = 1_000_000_000;

/** The file with all data of a store. */
export const DATA_FILE = 'data.mdb';

/** Copies the current state into a directory that does not exist, and returns its revision. */
export async function copyStore(directory: string, target: string): Promise<{ revision: number }> {
  const path = join(directory, DATA_FILE);
  if (!(await stat(path).catch(() => undefined))) throw new StoreDenied(`there is no store in ${directory}`);
  const file = await newStore(target);
  const environment = open<Buffer, Buffer>({
    path,
    readOnly: true,
    maxDbs: 3,
    keyEncoding: 'binary',
    encoding: 'binary',
  });
  try {
    await environment.backup(file, true);
  } finally {
    await environment.close();
  }
  return checkStore(target);
}

/** Creates the directory of a store, and returns the path of its data file, which is still missing. */
export async function newStore(directory: string): Promise<string> {
  await mkdir(directory, { mode: 0o700 });
  await writeFormat(directory);
  return join(directory, DATA_FILE);
}

/** Rejects with StoreTorn when a record is damaged. */
async function checkStore(directory: string): Promise<{ revision: number }> {
  const database = new Database(join(directory, DATA_FILE), MAP_BYTES);
  try {
    checkRecords(directory, database);
    return { revision: database.state().revision };
  } finally {
    await database.close();
  }
}

/** Turns a copy into a store to continue with: without history, and with revisions that were never used before. */
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

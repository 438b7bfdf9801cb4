/** Copies of a store that another program may be writing to: LMDB's readers see one state of its file. */
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { open } from 'lmdb';
import { systemClock } from '../../base/clock.ts';
import { checkRecords } from './copy-check.ts';
import { Database } from './database.ts';
import { StoreDenied } from './errors.ts';
import { MAP_SIZE, openEmbeddedStore, writeFormat } from './open.ts';

/**
 * How far revisions are ahead of the snapshot after it was restored. Clients remember versions that the snapshot has
 * never seen; none of them may come again and mean something else.
 */
const LEAP = 1_000_000_000;

/** The file with all data of a store. */
export const DATA_FILE = 'data.mdb';

/** Copies the state of this moment into a directory that does not exist; says which revision it is. */
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

/** Makes the directory of a store whose data file is still to come; returns that file. */
export async function newStore(directory: string): Promise<string> {
  await mkdir(directory, { mode: 0o700 });
  await writeFormat(directory);
  return join(directory, DATA_FILE);
}

/** Rejects with StoreTorn when a record is damaged. */
async function checkStore(directory: string): Promise<{ revision: number }> {
  const database = new Database(join(directory, DATA_FILE), MAP_SIZE);
  try {
    checkRecords(directory, database);
    return { revision: database.state().revision };
  } finally {
    await database.close();
  }
}

/** Makes a copy a store to go on with: its history is forgotten, and its next revision was never given before. */
export async function continueFrom(directory: string): Promise<{ revision: number }> {
  const store = await openEmbeddedStore({ directory, clock: systemClock });
  await store.compact(store.revision());
  await store.close();
  const database = new Database(join(directory, DATA_FILE), MAP_SIZE);
  try {
    const state = database.state();
    const revision = state.revision + LEAP;
    const leapt = { ...state, revision, compacted: revision };
    await database.write({ removedRecords: [], removedEntries: [], records: [], entries: [], state: leapt });
    return { revision };
  } finally {
    await database.close();
  }
}

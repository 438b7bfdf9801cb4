/** Reads the file of a store that another process may be writing to. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { open } from 'lmdb';
import { checkDataFile, checkMetaPages } from './data-file/check.ts';
import type { Contents } from './data-file/contents.ts';
import { StoreDenied } from './errors.ts';

/** The file that holds all data of a store. */
export const DATA_FILE = 'data.mdb';

const binary = { keyEncoding: 'binary', encoding: 'binary' } as const;

type Environment = ReturnType<typeof open<Buffer, Buffer>>;

/** A checked file, open for reading. Only individual values may be damaged. */
export interface ReadOnlyStore {
  readonly contents: Contents;
  readonly environment: Environment;
}

/**
 * Checks the file of a store, and calls `use` while it is open. LMDB does not write to pages that a reader may need, so
 * the check and a process that uses the store do not disturb each other.
 */
export async function readStore<T>(directory: string, use: (store: ReadOnlyStore) => T | Promise<T>): Promise<T> {
  const path = join(directory, DATA_FILE);
  if (!(await stat(path).catch(() => undefined))) throw new StoreDenied(`there is no store in ${directory}`);
  await checkMetaPages(path);
  const environment = open<Buffer, Buffer>({ path, readOnly: true, maxDbs: 3, ...binary });
  try {
    const transaction = environment.useReadTransaction();
    // No table may be opened before the check: LMDB would follow damaged pointers.
    const contents = await checkDataFile(path).finally(() => transaction.done());
    return await use({ contents, environment });
  } finally {
    await environment.close();
  }
}

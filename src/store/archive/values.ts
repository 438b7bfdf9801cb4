/** Reads the values of an archive on disk, also while another process uses it. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { prefixEnd } from '../keys.ts';
import { StoreDamaged } from '../store.ts';
import { ArchiveDatabase } from './database.ts';
import { keyOfIndex, revisionOfIndex } from './layout.ts';
import { ARCHIVE_FILE } from './open.ts';

/** Calls `visit` with each archived value under a prefix. Values that are damaged are left out. */
export async function visitArchive(directory: string, prefix: string, visit: (value: Buffer) => void): Promise<void> {
  const path = join(directory, ARCHIVE_FILE);
  const found = await stat(path).catch(() => undefined);
  if (!found || found.size === 0) return;
  const database = new ArchiveDatabase(path, { readOnly: true });
  const snapshot = database.snapshot();
  try {
    const end = prefixEnd(prefix);
    for (const { key, entry } of database.entries({ start: Buffer.from(prefix), ...(end && { end }) }, snapshot)) {
      if (entry.isDeletion) continue;
      const place = { revision: revisionOfIndex(key), index: entry.index };
      const value = valueAt(() => database.version(keyOfIndex(key).toString(), place, snapshot).value);
      if (value) visit(value);
    }
  } finally {
    snapshot.done();
    await database.close();
  }
}

function valueAt(read: () => Buffer | null): Buffer | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof StoreDamaged) return null;
    throw error;
  }
}

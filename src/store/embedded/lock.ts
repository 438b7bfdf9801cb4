import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LockHeld, type ProcessLock, takeProcessLock } from '../../base/process-lock.ts';
import { StoreLocked } from './errors.ts';

/** Stands in a directory that was copied with a lock in it, until the copy has been checked. */
export const COPIED = 'copied';

/**
 * Takes the lock of a directory, or rejects with StoreLocked. Programs that cannot see each other's processes, as in two
 * containers, are kept apart by the generation in the database (database.ts): the one that came first cannot write on.
 */
export async function takeLock(directory: string, dataFile: string): Promise<ProcessLock> {
  try {
    return await takeProcessLock({
      path: join(directory, 'lock'),
      subject: dataFile,
      onCopy: () => writeFile(join(directory, COPIED), '', { mode: 0o600, flush: true }),
    });
  } catch (error) {
    if (error instanceof LockHeld) throw new StoreLocked(directory, error.pid);
    throw error;
  }
}

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LockHeld, type ProcessLock, takeProcessLock } from '../../base/programs/process-lock.ts';
import { StoreLocked } from './errors.ts';

/** A file that marks a directory copied together with its lock, until the copy has been checked. */
export const COPIED = 'copied';

/**
 * Takes the lock of a directory, or rejects with StoreLocked. Processes that cannot see each other, as in two
 * containers, are excluded by the generation in the database (database.ts): after the second one opens it, the first
 * cannot write.
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

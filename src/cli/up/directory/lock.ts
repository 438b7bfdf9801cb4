import { join } from 'node:path';
import { LockHeld, type ProcessLock, takeProcessLock } from '../../../base/programs/process-lock.ts';
import { CliError } from '../../output/cli-error.ts';

/** Takes the lock of a data directory, so that only one process uses it. */
export async function takeLock(directory: string): Promise<ProcessLock> {
  try {
    return await takeProcessLock({ path: join(directory, 'lock'), subject: directory });
  } catch (error) {
    if (!(error instanceof LockHeld)) throw error;
    throw new CliError(
      `${directory} is in use by process ${error.pid}; stop it, or choose another cluster with --name or --data-dir`,
      { cause: error },
    );
  }
}

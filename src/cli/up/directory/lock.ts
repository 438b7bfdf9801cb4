import { join } from 'node:path';
import { LockHeld, type ProcessLock, takeProcessLock } from '../../../base/process-lock.ts';
import { CliError } from '../../output/cli-error.ts';

/** Keeps a second program out of a data directory. */
export async function takeLock(directory: string): Promise<ProcessLock> {
  try {
    return await takeProcessLock({ path: join(directory, 'lock'), subject: directory });
  } catch (error) {
    if (!(error instanceof LockHeld)) throw error;
    throw new CliError(
      `${directory} is in use by process ${error.pid}; stop that one, or choose another with --name or --data-dir`,
      { cause: error },
    );
  }
}

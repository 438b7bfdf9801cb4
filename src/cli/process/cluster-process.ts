/** The process that uses the data directory of a cluster: the one that runs the cluster, or a command that changes it. */
import { join } from 'node:path';
import {
  findLockHolder,
  LockHeld,
  type LockHolder,
  type ProcessLock,
  takeProcessLock,
} from '../../base/programs/process-lock.ts';
import { CliError } from '../output/cli-error.ts';

/** The purpose of a lock that a command holds while it works. A lock without a purpose is that of a running cluster. */
const COMMAND = 'command';

const lockOf = (directory: string) => ({ path: join(directory, 'lock'), subject: directory });

/** Finds the process that runs the cluster, without locking the directory. */
export async function findClusterProcess(directory: string): Promise<LockHolder | undefined> {
  const holder = await findLockHolder(lockOf(directory));
  return holder?.purpose === COMMAND ? undefined : holder;
}

/**
 * Runs `work` with the id of the process that runs the cluster. When none does, `work` gets undefined, and no process can
 * start the cluster meanwhile. Rejects while another command works on the directory.
 */
export async function withCluster<T>(directory: string, work: (pid: number | undefined) => Promise<T>): Promise<T> {
  const taken = await tryLock(directory);
  if ('pid' in taken) return work(taken.pid);
  try {
    return await work(undefined);
  } finally {
    await taken.release();
  }
}

/** Resolves with the lock, or with the process that runs the cluster. */
async function tryLock(directory: string): Promise<ProcessLock | LockHolder> {
  try {
    return await takeProcessLock({ ...lockOf(directory), purpose: COMMAND });
  } catch (error) {
    if (!(error instanceof LockHeld)) throw error;
    if (error.holder.purpose !== COMMAND) return error.holder;
    throw new CliError(`another qd command, process ${error.pid}, works on ${directory}; try again when it has ended`, {
      cause: error,
    });
  }
}

import { join } from 'node:path';
import { LockHeld, takeProcessLock } from '../../base/process-lock.ts';
import { type ClusterFlags, directoryOf } from '../flags/cluster.ts';

/**
 * Runs `work` with the id of the process that runs the cluster. When none does, `work` gets undefined, and no process can
 * start the cluster meanwhile.
 */
export async function withCluster<T>(flags: ClusterFlags, work: (pid: number | undefined) => Promise<T>): Promise<T> {
  const subject = directoryOf(flags);
  try {
    const lock = await takeProcessLock({ path: join(subject, 'lock'), subject });
    try {
      return await work(undefined);
    } finally {
      await lock.release();
    }
  } catch (error) {
    if (!(error instanceof LockHeld)) throw error;
    return work(error.pid);
  }
}

/** Stops the process that runs a cluster, and waits until it has ended. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { LockHolder } from '../../base/programs/process-lock.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import { CliError } from '../output/cli-error.ts';
import { findClusterProcess } from '../process/cluster-process.ts';
import { STOP_SIGNAL } from '../process/signals.ts';

/** How often a process is checked for its end: Node cannot wait for a process that it has not started. */
const CHECK_INTERVAL_MS = 50;

interface StopOptions {
  readonly directory: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Sends a signal; by default with the operating system. */
  readonly kill?: (pid: number, signal: NodeJS.Signals) => void;
}

/**
 * Resolves with the id of the process that was stopped; undefined when none runs. Rejects when the process does not end in
 * time: it is never killed, because it may be finishing requests.
 */
export async function stopCluster({ directory, timeoutMs, clock, kill = signalProcess }: StopOptions) {
  const holder = await findClusterProcess(directory);
  if (!holder) return undefined;
  const isHeld = await checkOwner(directory, holder);
  // The identity is checked again: between the two, the process may have ended and its id been given to another.
  if (isHeld && (await holder.isAlive())) kill(holder.pid, STOP_SIGNAL);
  const deadline = clock.now() + timeoutMs;
  while (await holder.isAlive()) {
    if (clock.now() >= deadline) {
      throw new CliError(
        `process ${holder.pid} was asked to stop and has not ended within ${timeoutMs / 1_000} s; wait with --timeout, or end it with: kill -KILL ${holder.pid}`,
      );
    }
    await sleep(clock, CHECK_INTERVAL_MS);
  }
  return holder.pid;
}

/**
 * Resolves with whether the lock is still there: a process that is about to end has removed it. A lock of one user cannot
 * name a process of another: root, too, would stop whatever the file says.
 */
async function checkOwner(directory: string, { pid }: LockHolder): Promise<boolean> {
  const file = join(directory, 'lock');
  const [lock, running] = await Promise.all([
    stat(file).catch(unlessMissing),
    stat(`/proc/${pid}`).catch(() => undefined),
  ]);
  const owner = running?.uid ?? process.getuid?.();
  if (lock === undefined) return false;
  if (owner === undefined || lock.uid === owner) return true;
  throw new CliError(`${file} belongs to user ${lock.uid}, and process ${pid} to user ${owner}; nothing was stopped`);
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ESRCH') return; // It has ended meanwhile.
    if (code !== 'EPERM') throw error;
    throw new CliError(`process ${pid} belongs to another user; stop it as that user`, { cause: error });
  }
}

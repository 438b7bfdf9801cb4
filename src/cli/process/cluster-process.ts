/** The cluster that a command is about: where it lives, and which process has it now. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { LockHeld, takeProcessLock } from '../../base/process-lock.ts';
import * as value from '../flags/values.ts';

export interface ClusterFlags {
  readonly name: string;
  readonly dataDir?: string;
}

export function withClusterFlags(command: Command): Command {
  return command
    .option('--name <name>', 'the name of the cluster', value.clusterName, 'quarterdeck')
    .option('--data-dir <dir>', 'where the cluster lives (default: ~/.quarterdeck/NAME)');
}

export function directoryOf({ name, dataDir }: ClusterFlags): string {
  return resolve(dataDir ?? join(homedir(), '.quarterdeck', name));
}

/** Runs the work with the process that has the cluster; where there is none, nobody can start one meanwhile. */
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

/** `DIR/last-start.json`: what the last start of a cluster says about itself to commands that manage it. */
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfThere } from '../../base/own-files/files.ts';

const LAST_START_FILE = 'last-start.json';

export interface LastStart {
  readonly name: string;
  /** The release of qd. */
  readonly version: string;
  readonly pid: number;
  readonly nodes: number;
  /** The kubeconfig files that have a context of the cluster, besides the one in the data directory. */
  readonly kubeconfigs: readonly string[];
}

/** Replaces the file atomically. It need not survive a power cut, and is not flushed. */
export async function writeLastStart(directory: string, start: LastStart): Promise<void> {
  const before = await readLastStart(directory);
  // A cluster that was published elsewhere before is still there.
  const kubeconfigs = [...new Set([...start.kubeconfigs, ...(before?.kubeconfigs ?? [])])];
  const next = join(directory, `${LAST_START_FILE}.${process.pid}.tmp`);
  await writeFile(next, `${JSON.stringify({ ...start, kubeconfigs }, undefined, 2)}\n`, { mode: 0o600 });
  await rename(next, join(directory, LAST_START_FILE));
}

/** Returns undefined for a directory of an earlier release, or one that was never started. */
export async function readLastStart(directory: string): Promise<LastStart | undefined> {
  const text = await readIfThere(join(directory, LAST_START_FILE));
  if (text === undefined) return undefined;
  try {
    const { name, version, pid, nodes, kubeconfigs } = JSON.parse(text);
    if (![name, version].every((each) => typeof each === 'string') || !Array.isArray(kubeconfigs)) return undefined;
    return { name, version, pid, nodes, kubeconfigs: kubeconfigs.filter((file) => typeof file === 'string') };
  } catch {
    return undefined; // The next start writes it again.
  }
}

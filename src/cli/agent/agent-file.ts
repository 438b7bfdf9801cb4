/** `DIR/agent.json`: what an agent says about itself to commands that list and remove data directories, and to its next start. */
import { readdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfThere } from '../../base/files/own/files.ts';
import { PRIVATE_FILE } from '../../base/files/own/modes.ts';
import type { RememberedFlags } from './settle.ts';

const AGENT_FILE = 'agent.json';

export interface AgentFile {
  readonly node: string;
  /** The address of the API server; undefined for an agent of an earlier release. */
  readonly server?: string | undefined;
  /** The release of qd. */
  readonly version?: string | undefined;
  /** The flags that the next start uses as well. */
  readonly flags?: RememberedFlags | undefined;
  /** The process whose node became ready; 0: none yet. Undefined for an agent of an earlier release. */
  readonly readyPid?: number | undefined;
}

/** Replaces the file atomically. */
export async function writeAgentFile(directory: string, file: AgentFile): Promise<void> {
  const next = join(directory, `${AGENT_FILE}.${process.pid}.tmp`);
  await writeFile(next, `${JSON.stringify(file, undefined, 2)}\n`, { mode: PRIVATE_FILE });
  await rename(next, join(directory, AGENT_FILE));
}

/** Resolves with undefined when the directory is not that of an agent. */
export async function readAgentFile(directory: string): Promise<AgentFile | undefined> {
  const text = await readIfThere(join(directory, AGENT_FILE));
  if (text === undefined) return earlierAgent(directory);
  try {
    const { node, server, version, flags, readyPid } = JSON.parse(text);
    const optional = (value: unknown) => (typeof value === 'string' ? value : undefined);
    if (typeof node !== 'string') return undefined;
    return { node, server: optional(server), version: optional(version), flags, readyPid };
  } catch {
    return undefined; // The next start writes it again.
  }
}

/** Earlier releases wrote no such file. A cluster has the key of its authority, and an agent does not. */
async function earlierAgent(directory: string): Promise<AgentFile | undefined> {
  const isThere = (...names: string[]) =>
    stat(join(directory, ...names)).then(
      () => true,
      () => false,
    );
  if ((await isThere('cluster.json')) || (await isThere('pki', 'ca.key')) || !(await isThere('pki'))) return undefined;
  const [node] = await readdir(join(directory, 'nodes')).catch((): string[] => []);
  return node === undefined ? undefined : { node };
}

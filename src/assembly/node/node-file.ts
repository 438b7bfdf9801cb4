/** Record in a node's directory, from which a later process finds what the node runs. */
import { createHash } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isCopy } from '../../base/files/own/is-copy.ts';
import { PRIVATE_FILE, TRAVERSED_DIRECTORY } from '../../base/files/own/modes.ts';
import { makeDirectory } from '../../base/files/own/own-files.ts';
import type { RegistrySettings } from '../../node/images/registry/hosts.ts';

export type RealRuntime = 'containerd' | 'process';

export interface NodeFile {
  readonly runtime: RealRuntime;
  /** A CRI socket; undefined or empty: that of the machine's containerd, or an own one. */
  readonly endpoint: string | undefined;
  /** Identifies the node on this machine: it names bridges and tables, and marks what runs. */
  readonly name: string;
  readonly podCIDRs: readonly string[];
  /** Path of the network namespace that an own containerd and pods have; undefined: that of the machine. */
  readonly networkNamespace?: string | undefined;
  /** Where an own containerd in such a namespace is reached for exec, attach and port-forward. */
  readonly streamAddress?: string | undefined;
  readonly registries: RegistrySettings;
}

/** As it is on disk. */
interface WrittenFile extends NodeFile {
  /** The directory that it was written in. */
  readonly writtenIn: string;
}

const NODES = 'nodes';
const FILE = 'node.json';
/** Directories in which runtimes keep data about their pods, below that of the node. */
const OF_RUNTIMES = ['process', 'containerd'];

/** Where a node has its files below the data directory. */
export async function nodeDirectory(dataDirectory: string, node: string): Promise<string> {
  const directory = join(dataDirectory, NODES, node);
  await makeDirectory(directory, TRAVERSED_DIRECTORY);
  return directory;
}

export async function writeNodeFile(directory: string, file: NodeFile): Promise<void> {
  const written: WrittenFile = { ...file, writtenIn: directory };
  await writeFile(join(directory, FILE), `${JSON.stringify(written, undefined, 2)}\n`, { mode: PRIVATE_FILE });
}

export async function removeNodeFile(directory: string): Promise<void> {
  await rm(join(directory, FILE), { force: true });
}

/** Undefined for a node that has never opened a runtime, which is that of a copied data directory, too. */
export async function readNodeFile(directory: string): Promise<NodeFile | undefined> {
  const file = await read(directory);
  if (file === undefined) return undefined;
  const { writtenIn, ...rest } = file;
  return (await isCopy(directory, writtenIn)) ? undefined : rest;
}

/**
 * Removes what a copied directory has of the pods of its original: the records name interfaces, namespaces and cgroups of this
 * machine, which a runtime that takes them over would remove.
 */
export async function leaveOriginal(directory: string): Promise<void> {
  const file = await read(directory);
  if (!file || !(await isCopy(directory, file.writtenIn))) return;
  // The file comes last: an attempt that was interrupted is made again.
  for (const name of OF_RUNTIMES) await rm(join(directory, name), { recursive: true, force: true });
  await removeNodeFile(directory);
}

async function read(directory: string): Promise<WrittenFile | undefined> {
  const text = await readFile(join(directory, FILE), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : JSON.parse(text);
}

/** The nodes of a data directory that have opened a runtime. */
export async function nodesIn(dataDirectory: string): Promise<readonly { directory: string; file: NodeFile }[]> {
  const names = await readdir(join(dataDirectory, NODES)).catch(() => []);
  const found = await Promise.all(
    names.map(async (name) => {
      const directory = join(dataDirectory, NODES, name);
      const file = await readNodeFile(directory);
      return file ? [{ directory, file }] : [];
    }),
  );
  return found.flat();
}

/** Identifies a node on this machine. Names of interfaces are short, and clusters of one machine have their own. */
export function nodeId(dataDirectory: string, node: string): string {
  return `qd${createHash('sha256').update(`${dataDirectory}\0${node}`).digest('hex').slice(0, 8)}`;
}

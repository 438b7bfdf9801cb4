/** What is needed to find again what a node runs: kept in its directory. */
import { createHash } from 'node:crypto';
import { chmod, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PRIVATE_FILE, TRAVERSED_DIRECTORY } from '../../base/own-files/modes.ts';
import { makeDirectory } from '../../base/own-files/own-files.ts';
import type { RegistrySettings } from '../../node/images/registry/hosts.ts';
import type { RealRuntime } from './open-runtime.ts';

export interface NodeFile {
  readonly runtime: RealRuntime;
  readonly endpoint: string | undefined;
  /** Identifies the node on this machine. */
  readonly name: string;
  readonly podCIDRs: readonly string[];
  /** Path of its network namespace; undefined: it has that of the machine. */
  readonly networkNamespace?: string | undefined;
  /** Its address in that. */
  readonly streamAddress?: string | undefined;
  readonly registries: RegistrySettings;
}

const NODES = 'nodes';
const FILE = 'node.json';

/** Where a node has its files below the data directory. */
export async function nodeDirectory(dataDirectory: string, node: string): Promise<string> {
  const directory = join(dataDirectory, NODES, node);
  await makeDirectory(directory, TRAVERSED_DIRECTORY);
  // Earlier releases let everybody list them.
  for (const path of [join(dataDirectory, NODES), directory]) await chmod(path, TRAVERSED_DIRECTORY);
  return directory;
}

export async function writeNodeFile(directory: string, file: NodeFile): Promise<void> {
  await writeFile(join(directory, FILE), `${JSON.stringify(file, undefined, 2)}\n`, { mode: PRIVATE_FILE });
}

export async function removeNodeFile(directory: string): Promise<void> {
  await rm(join(directory, FILE), { force: true });
}

/** Undefined for a node that has never opened a runtime. */
export async function readNodeFile(directory: string): Promise<NodeFile | undefined> {
  const text = await readFile(join(directory, FILE), 'utf8').catch(() => undefined);
  // Earlier releases wrote no registries.
  return text === undefined ? undefined : { registries: { mirrors: {}, insecure: [] }, ...JSON.parse(text) };
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

/** What is needed to find again what a node runs: kept in its directory. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RealRuntime } from './open-runtime.ts';

export interface NodeFile {
  readonly runtime: RealRuntime;
  readonly endpoint: string | undefined;
  /** Identifies the node on this machine. */
  readonly name: string;
  readonly podCIDRs: readonly string[];
}

const NODES = 'nodes';
const FILE = 'node.json';

/** Where a node has its files below the data directory. */
export async function nodeDirectory(dataDirectory: string, node: string): Promise<string> {
  const directory = join(dataDirectory, NODES, node);
  await mkdir(directory, { recursive: true, mode: 0o755 });
  return directory;
}

export async function writeNodeFile(directory: string, file: NodeFile): Promise<void> {
  await writeFile(join(directory, FILE), `${JSON.stringify(file, undefined, 2)}\n`);
}

/** Undefined for a node that has never opened a runtime. */
export async function readNodeFile(directory: string): Promise<NodeFile | undefined> {
  const text = await readFile(join(directory, FILE), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as NodeFile);
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

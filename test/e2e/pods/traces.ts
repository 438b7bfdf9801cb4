/** Finds traces of nodes of a data directory outside of it on this machine. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The identities of the nodes, which are in the names of all that they make. */
export function nodeIdsIn(dataDirectory: string): string[] {
  const nodes = join(dataDirectory, 'nodes');
  return readdirSync(nodes).map((node) => JSON.parse(readFileSync(join(nodes, node, 'node.json'), 'utf8')).name);
}

/** Processes, mounts, interfaces, network namespaces, nftables tables and cgroups that belong to the nodes. */
export async function tracesOf(dataDirectory: string, ids: readonly string[]): Promise<string[]> {
  const hash = (text: string, length: number) => createHash('sha256').update(text).digest('hex').slice(0, length);
  const names = [...ids.map((id) => id.replace(/^qd/, '')), ...ids.map((id) => hash(id, 10)), hash(dataDirectory, 8)];
  const isOurs = (text: string) => names.some((name) => text.includes(name));
  const lines = async (program: string, ...args: string[]) =>
    (await run(program, args).catch(() => ({ stdout: '' }))).stdout.split('\n').filter(isOurs);
  const commands = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => readIfThere(`/proc/${pid}/cmdline`).replaceAll('\0', ' '))
    .filter((command) => command.includes(`${dataDirectory}/nodes/`));
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .filter((line) => line.includes(`${dataDirectory}/`));
  return [
    ...commands,
    ...mounts,
    ...(await lines('ip', '-brief', 'link')),
    ...(await lines('nft', 'list', 'tables')),
    ...(existsSync('/run/netns') ? readdirSync('/run/netns').filter(isOurs) : []),
    ...readdirSync('/sys/fs/cgroup', { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name }) => [name, ...readdirSync(join('/sys/fs/cgroup', name)).map((below) => `${name}/${below}`)])
      .filter(isOurs),
  ];
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** `qd list`. */
import { clustersHome } from '../flags/cluster.ts';
import { table } from '../output/table.ts';
import { type Cluster, findClusters } from './find.ts';
import type { ListFlags } from './flags.ts';

export async function list({ json }: ListFlags): Promise<void> {
  const clusters = await findClusters(clustersHome());
  if (json) return print(JSON.stringify(clusters, undefined, 2));
  if (clusters.length === 0) return print('There are no clusters on this machine. qd up starts one.');
  for (const line of table([HEADER, ...clusters.map(rowOf)])) print(line);
}

const HEADER = ['NAME', 'STATUS', 'URL', 'NODES', 'VERSION', 'DIRECTORY'];

function rowOf({ kind, name, state, pid, networkPid, url, nodes, version, directory, problem }: Cluster): string[] {
  const of = kind === 'agent' ? 'agent, ' : '';
  const network = networkPid === undefined ? '' : ` (its network goes on, process ${networkPid})`;
  const status = `${of}${pid === undefined ? `${state}${network}` : `${state} (process ${pid})`}`;
  const where = problem === undefined ? directory : `${directory} (${problem})`;
  return [name, status, url ?? '-', String(nodes ?? '-'), version ?? '-', where];
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

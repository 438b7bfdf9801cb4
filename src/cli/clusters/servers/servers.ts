/** `qd server`: the servers of a cluster with an etcd of its own. */
import { listServers, type MembersOptions, removeServer } from '../../../assembly/etcd/members.ts';
import { systemClock } from '../../../base/time/clock.ts';
import type { ClusterFlags } from '../../flags/cluster.ts';
import { CliError } from '../../output/cli-error.ts';
import { table } from '../../output/table.ts';
import { rememberedIn } from '../../up/directory/directory.ts';
import { directoryOf } from '../choice.ts';

export async function listAll(flags: ClusterFlags): Promise<void> {
  const servers = await listServers(await serverIn(flags));
  const rows = servers.map(({ name, url, state, fileBytes }) => [name || '<none>', state, sizeOf(fileBytes), url]);
  for (const line of table([['NAME', 'STATE', 'SIZE', 'ETCD'], ...rows])) print(line);
}

export async function remove(name: string, flags: ClusterFlags): Promise<void> {
  await removeServer(await serverIn(flags), name);
  print(`Removed server "${name}". Its data directory stays; qd reset removes it there.`);
}

async function serverIn(flags: ClusterFlags): Promise<MembersOptions> {
  const directory = await directoryOf(flags);
  const { ha, etcdServers = [] } = await rememberedIn(directory);
  if (ha) return { directory, endpoints: etcdServers, clock: systemClock };
  throw new CliError(`${directory} is not that of a server with an etcd of its own; they are started with qd up --ha`);
}

const MIB = 2 ** 20;

const sizeOf = (bytes: number | undefined) => (bytes === undefined ? '<unknown>' : `${Math.ceil(bytes / MIB)}Mi`);

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

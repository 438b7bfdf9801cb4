/** The command `qd server`. Its work is loaded when it runs. */
import { Command } from 'commander';
import { addFlags } from '../../flags/add-flags.ts';
import { type ClusterFlags, clusterFlags } from '../../flags/cluster.ts';

export function serverCommand(): Command {
  const list = new Command('list')
    .description('Lists the servers of a cluster that runs its own etcd.')
    .action(async (flags: ClusterFlags) => (await work()).listAll(flags));
  const remove = new Command('remove')
    .description('Removes a server from its cluster, whether it runs or not. One that runs stops.')
    .argument('<name>', 'the name of the server, or the URL of its etcd')
    .action(async (name: string, flags: ClusterFlags) => (await work()).remove(name, flags));
  return new Command('server')
    .description('Manages the servers of a cluster that runs its own etcd, on the machine of one of them.')
    .addCommand(addFlags(list, clusterFlags))
    .addCommand(addFlags(remove, clusterFlags));
}

const work = () => import('./servers.ts');

/** The command `qd snapshot`. Its work is loaded when it runs. */
import { Command } from 'commander';
import { type ClusterFlags, withClusterFlags } from '../process/cluster-process.ts';

export interface RestoreFlags extends ClusterFlags {
  readonly force?: boolean;
}

export function snapshotCommand(): Command {
  const save = new Command('save')
    .description('Writes what the cluster holds at one moment into a file, also while it runs.')
    .argument('<file>', 'the file to write')
    .action(async (file: string, flags: ClusterFlags) => (await import('./snapshot.ts')).saveSnapshot(file, flags));
  const restore = new Command('restore')
    .description('Puts a snapshot in the place of what the cluster holds. The cluster must be stopped.')
    .argument('<file>', 'a file that `qd snapshot save` wrote')
    .option('--force', 'take the place of objects that are there')
    .action(async (file: string, flags: RestoreFlags) => (await import('./snapshot.ts')).restoreSnapshot(file, flags));
  const check = new Command('check')
    .description('Says whether a snapshot is whole, and what is in it.')
    .argument('<file>', 'a file that `qd snapshot save` wrote')
    .action(async (file: string) => (await import('./snapshot.ts')).checkSnapshot(file));
  const command = new Command('snapshot').description('Snapshots of a cluster with the embedded store.');
  for (const each of [save, restore]) command.addCommand(withClusterFlags(each));
  return command.addCommand(check);
}

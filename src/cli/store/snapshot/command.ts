/** The command `qd snapshot`. Its work is loaded when it runs. */
import { Command } from 'commander';
import { addFlags } from '../../flags/add-flags.ts';
import { type ClusterFlags, clusterFlags } from '../../flags/cluster.ts';
import { type CheckFlags, checkFlags, type RestoreFlags, restoreFlags } from './flags.ts';

const WRITTEN = 'a file written by qd snapshot save';

export function snapshotCommand(): Command {
  const save = new Command('save')
    .description('Writes all objects, as of one moment, into a file. The cluster may be running.')
    .argument('<file>', 'the file to write')
    .action(async (file: string, flags: ClusterFlags) => (await import('./snapshot.ts')).saveSnapshot(file, flags));
  const restore = new Command('restore')
    .description('Replaces all objects with those of a snapshot. The cluster must be stopped.')
    .argument('<file>', WRITTEN)
    .action(async (file: string, flags: RestoreFlags) => (await import('./snapshot.ts')).restoreSnapshot(file, flags));
  const check = new Command('check')
    .description(
      'Verifies all objects of a cluster, which may be running, or of a snapshot. Names those that are damaged.',
    )
    .argument('[path]', 'a data directory, or a file written by qd snapshot save; default: that of --name')
    .action(async (path: string | undefined, flags: CheckFlags) => (await import('./check.ts')).check(path, flags));
  return new Command('snapshot')
    .description('Saves and restores the objects of a cluster.')
    .addCommand(addFlags(save, clusterFlags))
    .addCommand(addFlags(restore, restoreFlags))
    .addCommand(addFlags(check, checkFlags));
}

/** The command `qd restore`. Its work is loaded when it runs. */
import { Command } from 'commander';
import { addFlags } from '../../flags/add-flags.ts';
import { type RestoreFlags, restoreFlags } from './flags.ts';

export function restoreCommand(): Command {
  const command = new Command('restore')
    .description(
      'Makes a data directory of a backup: qd up continues the cluster, with its objects, keys and settings, so that clients and agents need nothing new. ' +
        'Its objects are in the data directory, whatever store they were in.',
    )
    .argument('<from>', 'a backup, a directory with backups, s3://BUCKET/PREFIX, or the data directory of a cluster')
    .action(async (from: string, flags: RestoreFlags) => (await import('./restore.ts')).restore(from, flags));
  return addFlags(command, restoreFlags);
}

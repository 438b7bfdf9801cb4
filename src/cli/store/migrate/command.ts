/** The command `qd store`. Its work is loaded when it runs. */
import { Command } from 'commander';
import { addFlags } from '../../flags/add-flags.ts';
import { type MigrateFlags, migrateFlags } from './flags.ts';

export function storeCommand(): Command {
  const migrate = new Command('migrate')
    .description(
      'Moves all objects to another store, with their resourceVersions and UIDs. The cluster may be running: writes wait for a moment, ' +
        'and pods go on. Until the last step, nothing changes for it: after a failure or a crash, it uses the old store.',
    )
    .action(async (flags: MigrateFlags) => (await import('./migrate.ts')).migrate(flags));
  return new Command('store')
    .description('Manages the store of a cluster.')
    .addCommand(addFlags(migrate, migrateFlags));
}

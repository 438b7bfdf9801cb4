/** The command `qd status`. Its work is loaded when it runs. */
import { Command } from 'commander';
import { addFlags } from '../../flags/add-flags.ts';
import { type StatusFlags, statusFlags } from './flags.ts';

export function statusCommand(): Command {
  const command = new Command('status')
    .description(
      'Shows whether a cluster of this machine is in order: its servers, nodes, store and backups. The exit code is 1 when it is not.',
    )
    .action(async (flags: StatusFlags) => (await import('./status.ts')).status(flags));
  return addFlags(command, statusFlags);
}

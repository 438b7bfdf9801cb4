/** The commands `qd list`, `qd down` and `qd reset`. Their work is loaded when they run. */
import { Command } from 'commander';
import { addFlags } from '../flags/add-flags.ts';
import { type DownFlags, downFlags, type ListFlags, listFlags, type ResetFlags, resetFlags } from './flags.ts';

export function listCommand(): Command {
  const command = new Command('list')
    .description('Shows the clusters and agents of this machine, and which of them run.')
    .action(async (flags: ListFlags) => (await import('./list.ts')).list(flags));
  return addFlags(command, listFlags);
}

export function downCommand(): Command {
  const command = new Command('down')
    .description(
      'Stops a running cluster or agent and its pods gracefully, and waits until they have ended. The next start continues it.',
    )
    .action(async (flags: DownFlags) => (await import('./down.ts')).down(flags));
  return addFlags(command, downFlags);
}

export function resetCommand(): Command {
  const command = new Command('reset')
    .description('Stops a cluster or an agent, and removes its data directory and its kubeconfig context for good.')
    .action(async (flags: ResetFlags) => (await import('./reset.ts')).reset(flags));
  return addFlags(command, resetFlags);
}

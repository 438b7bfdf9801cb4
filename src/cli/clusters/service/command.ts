/** The command `qd service`. Its work is loaded when it runs. */
import { Command } from 'commander';
import { agentFlags, type GivenAgentFlags } from '../../agent/flags.ts';
import { addFlags } from '../../flags/add-flags.ts';
import { type ClusterFlags, clusterFlags } from '../../flags/cluster.ts';
import { flagGroups } from '../../up/flags.ts';
import type { GivenFlags } from '../../up/settings/settle.ts';
import { type InstallFlags, installFlags, type StatusFlags, statusFlags } from './flags.ts';

export function serviceCommand(): Command {
  const command = new Command('service').description('Runs clusters and agents as services of systemd.');
  const install = command
    .command('install')
    .description(
      'Makes a unit with the flags that are given, starts it now and at each boot, and waits until it is ready.',
    );
  const up = install.command('up').description('The service runs qd up with these flags.');
  for (const { heading, flags } of flagGroups) addFlags(up, flags, heading);
  addFlags(up, installFlags).action(async (flags: GivenFlags & InstallFlags) =>
    (await import('./install.ts')).installCluster(flags),
  );
  const agent = install.command('agent').description('The service runs qd agent with these flags.');
  addFlags(agent, agentFlags);
  addFlags(agent, installFlags).action(async (flags: GivenAgentFlags & InstallFlags) =>
    (await import('./install.ts')).installAgent(flags),
  );
  const status = command
    .command('status')
    .description(
      'Shows services, all of them unless one is named, and whether they run and are ready. The exit code is 1 when one is not.',
    )
    .action(async (flags: StatusFlags) => (await import('./status.ts')).status(flags));
  addFlags(status, statusFlags);
  const remove = command
    .command('remove')
    .description('Stops a service and removes its unit. Its pods go on running, and its data directory stays.')
    .action(async (flags: ClusterFlags) => (await import('./remove.ts')).remove(flags));
  addFlags(remove, clusterFlags);
  return command;
}

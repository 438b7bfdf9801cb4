/** The command `qd up`. Its work is loaded when it runs. */
import { Command } from 'commander';
import { addFlags } from '../flags/add-flags.ts';
import { nameFromEnvironment } from '../flags/cluster.ts';
import { flagGroups } from './flags.ts';
import type { GivenFlags } from './settings/settle.ts';

export function upCommand(): Command {
  const summary = 'Starts a cluster on this machine, or continues the one in the data directory.';
  const command = new Command('up').summary(summary).description(`${summary} Below, DIR is the data directory.`);
  for (const { heading, flags } of flagGroups) addFlags(command, flags, heading);
  return command.action(async (given: GivenFlags) => {
    const isNamed = command.getOptionValueSource('name') !== 'default' || given.dataDir !== undefined;
    const name = isNamed ? undefined : nameFromEnvironment(process.env);
    const flags = name === undefined ? given : { ...given, name };
    if (flags.detach) return (await import('./detach/detach.ts')).upDetached(flags);
    return (await import('./up.ts')).up(flags);
  });
}

/** The command `qd clock`. Its work is loaded when it runs. */
import { Command } from 'commander';
import { FlagError } from '../../../base/flag.ts';
import { parseDuration } from '../../../base/time/duration.ts';
import { addFlags, parsed } from '../../flags/add-flags.ts';
import { type ClusterFlags, connectionFlags } from '../../flags/cluster.ts';

export function clockCommand(): Command {
  const advance = new Command('advance')
    .description('Moves the time of a cluster that was started with --clock manual, and prints it.')
    .argument('<duration>', 'by how much: 90s, 1h30m or 7d', (text) => parsed(() => duration(text)))
    .action(async (milliseconds: number, flags: ClusterFlags) =>
      (await import('./advance.ts')).advance(milliseconds, flags),
    );
  return new Command('clock')
    .description('Moves the time of a cluster for tests.')
    .addCommand(addFlags(advance, connectionFlags));
}

function duration(text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined) throw new FlagError('It must be a duration, such as 90s, 1h30m or 7d.');
  return milliseconds;
}

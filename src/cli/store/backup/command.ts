/** The command `qd backup`. Its work is loaded when it runs. */
import { Command } from 'commander';
import { addFlags } from '../../flags/add-flags.ts';
import {
  type ListFlags,
  type LocationFlags,
  listFlags,
  locationFlags,
  type NowFlags,
  nowFlags,
  type VerifyFlags,
  verifyFlags,
} from './flags.ts';

export function backupCommand(): Command {
  const now = new Command('now')
    .description('Takes a backup: one file with everything a restore needs. The cluster may be running.')
    .action(async (flags: NowFlags) => (await import('./now.ts')).backUpNow(flags));
  const list = new Command('ls')
    .description('Lists the backups of a cluster, or with --from those of all clusters there.')
    .action(async (flags: ListFlags) => (await import('./list.ts')).list(flags));
  const verify = new Command('verify')
    .description(
      'Reads a whole backup, starts it as a cluster in memory that reaches nothing outside, and reports what it contains.',
    )
    .argument('[backup]', 'the name of a backup, or a file; default: the newest backup')
    .action(async (backup: string | undefined, flags: VerifyFlags) =>
      (await import('./verify.ts')).verify(backup, flags),
    );
  const remove = new Command('rm')
    .description('Removes backups.')
    .argument('<name...>', 'the names of backups')
    .action(async (names: readonly string[], flags: LocationFlags) =>
      (await import('./remove.ts')).remove(names, flags),
    );
  return new Command('backup')
    .description('Takes, lists, verifies and removes backups of a cluster. qd restore starts a cluster from one.')
    .addCommand(addFlags(now, nowFlags))
    .addCommand(addFlags(list, listFlags))
    .addCommand(addFlags(verify, verifyFlags))
    .addCommand(addFlags(remove, locationFlags));
}

/** The command `qd upgrade`. Its work is loaded when it runs. */
import { Command } from 'commander';
import { addFlags } from '../../flags/add-flags.ts';
import { type UpgradeFlags, upgradeFlags } from './flags.ts';

export function upgradeCommand(): Command {
  const command = new Command('upgrade')
    .description(
      'Runs a cluster or an agent of this machine with another release, and with the former one again when that does not become ready; with --all, every machine of a cluster. Pods go on running.',
    )
    .argument('<file>', 'a package file (.tgz), or the directory of a package')
    .action(async (file: string, flags: UpgradeFlags) => {
      if (flags.preview) return (await import('./preview/command.ts')).runPreview(file, flags);
      return (await import('./upgrade.ts')).upgrade(file, flags);
    });
  return addFlags(command, upgradeFlags);
}

/** `qd backup rm`. */
import { parseBackupName } from '../../../backup/names.ts';
import { CliError } from '../../output/cli-error.ts';
import { print } from '../../output/print.ts';
import { backupLocation, explained, openBackupTarget } from '../../up/store/backups/targets.ts';
import { clusterOf } from './cluster.ts';
import type { LocationFlags } from './flags.ts';

export async function remove(names: readonly string[], flags: LocationFlags): Promise<void> {
  const location = flags.from ?? (await usualLocation(flags));
  const target = await openBackupTarget(location);
  try {
    const found = new Set((await target.list()).map(({ name }) => name));
    const missing = names.find((name) => !found.has(name) || !parseBackupName(name));
    if (missing !== undefined) throw new CliError(`${target.name} has no backup ${missing}; qd backup ls lists them`);
    for (const name of names) {
      await target.remove(name);
      print(`Removed ${name}.`);
    }
  } catch (error) {
    throw explained(error);
  }
}

async function usualLocation(flags: LocationFlags): Promise<string> {
  const { settings, directory } = await clusterOf(flags);
  return backupLocation(settings, directory);
}

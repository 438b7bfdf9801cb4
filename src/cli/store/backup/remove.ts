/** `qd backup rm`. */
import { parseBackupName } from '../../../backup/names.ts';
import { CliError } from '../../output/cli-error.ts';
import { print } from '../../output/print.ts';
import { explained, openPlace, placeOf } from '../../up/store/backups/places.ts';
import { clusterOf } from './cluster.ts';
import type { PlaceFlags } from './flags.ts';

export async function remove(names: readonly string[], flags: PlaceFlags): Promise<void> {
  const place = flags.from ?? (await usualPlace(flags));
  const target = await openPlace(place);
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

async function usualPlace(flags: PlaceFlags): Promise<string> {
  const { settings, directory } = await clusterOf(flags);
  return placeOf(settings, directory);
}

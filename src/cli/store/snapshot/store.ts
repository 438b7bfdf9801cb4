/** The store of a data directory, for the commands that read its files. */
import { stat } from 'node:fs/promises';
import type { FileSnapshots } from '../../../store/driver.ts';
import { defaultStore, storeDriver } from '../../../store/drivers.ts';
import { CliError } from '../../output/cli-error.ts';
import { rememberedIn } from '../../up/directory/directory.ts';

export async function snapshotsOf(directory: string): Promise<FileSnapshots> {
  const { store = defaultStore } = await rememberedIn(directory);
  const { snapshots, location } = storeDriver(store);
  if ('instead' in snapshots) {
    throw new CliError(`the objects of this cluster are stored in ${location}: ${snapshots.instead}`);
  }
  return snapshots;
}

export async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

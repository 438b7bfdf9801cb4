/** The store of a data directory, for the commands that read its files. */
import { stat } from 'node:fs/promises';
import type { FileSnapshots } from '../../../store/driver.ts';
import { defaultStore, type StoreSettings, storeDriver } from '../../../store/drivers.ts';
import { CliError } from '../../output/cli-error.ts';
import { rememberedIn } from '../../up/directory/directory.ts';

export interface StoredFiles extends Omit<FileSnapshots<StoreSettings>, 'pathIn'> {
  /** The folder of the store. */
  readonly path: string;
}

export async function snapshotsOf(directory: string): Promise<StoredFiles> {
  const settings = await rememberedIn(directory);
  const { store = defaultStore } = settings;
  const { snapshots, location } = storeDriver(store);
  if ('instead' in snapshots) {
    throw new CliError(`the objects of this cluster are stored in ${location}: ${snapshots.instead}`);
  }
  return { ...snapshots, path: snapshots.pathIn(directory, settings) };
}

export async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

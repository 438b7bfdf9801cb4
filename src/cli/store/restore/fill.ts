/** Makes a data directory of a saved state. */
import { readdir, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { SETTINGS, writeSavedKeys } from '../../../assembly/store/backups/saved-files.ts';
import { encryptedWith, keyFileIn, readKeys } from '../../../assembly/store/encryption.ts';
import { checkRelease } from '../../../assembly/store/releases/check-release.ts';
import { readClusterRow } from '../../../assembly/store/releases/cluster-row.ts';
import type { SavedState } from '../../../backup/restoring/state.ts';
import { syncDirectory } from '../../../base/files/own/files.ts';
import { makeDirectories } from '../../../base/files/own/make-directories.ts';
import { systemRandom } from '../../../base/random.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { storeDriver } from '../../../store/drivers.ts';
import type { Store } from '../../../store/store.ts';
import { CliError } from '../../output/cli-error.ts';
import { ownRelease } from '../../process/version.ts';
import { RESTORING, rememberIn } from '../../up/directory/directory.ts';
import { restoredSettings } from './settings.ts';

/** What a restore makes in a data directory. The settings come last: without them, there is no cluster. */
const MADE = ['pki', 'encryption.key', 'store', SETTINGS];

/** Throws unless the directory has no cluster, and nothing else that a restore would replace. */
export async function checkEmpty(directory: string): Promise<void> {
  const names = await readdir(directory).catch((): string[] => []);
  if (names.includes(SETTINGS)) {
    throw new CliError(
      `${directory} has a cluster; restore to another one with --name or --data-dir, or move this one away`,
    );
  }
  const kept = names.filter((name) => !KEPT.some((pattern) => pattern.test(name)));
  if (kept.length > 0 && !names.includes(RESTORING)) {
    throw new CliError(`${directory} is not empty, it has ${kept[0]}; restore to another --data-dir`);
  }
}

/** Names that may be in the directory: backups, its lock, and what file systems have in their roots. */
const KEPT = [/^backups$/, /^lock(\.|$)/, /^lost\+found$/];

/** The caller holds the lock of the directory. `revision` is the one that the store continues at. */
export async function fillDirectory(directory: string, state: SavedState, revision: number): Promise<void> {
  const making = join(directory, RESTORING);
  await clear(directory);
  await makeDirectories(making, 0o700);
  await syncDirectory(directory);
  try {
    await writeSavedKeys(making, state.files);
    await fillStore(making, state, revision);
    await rememberIn(making, restoredSettings(state));
    await syncDirectory(making);
  } catch (error) {
    await clear(directory);
    throw error;
  }
  for (const name of MADE) {
    await rename(join(making, name), join(directory, name));
    await syncDirectory(directory);
  }
  await rmdir(making);
}

/** Removes what an interrupted restore has left. The folder goes last: it tells that the rest belongs to a restore. */
async function clear(directory: string): Promise<void> {
  const names = await readdir(directory);
  if (!names.includes(RESTORING)) return;
  for (const name of MADE) await rm(join(directory, name), { recursive: true, force: true });
  await rm(join(directory, RESTORING), { recursive: true, force: true });
}

async function fillStore(directory: string, { rows }: SavedState, revision: number): Promise<void> {
  const driver = storeDriver('embedded');
  const context = { directory, clock: systemClock };
  const copy = await driver.beginCopy!({}, context, { oldest: revision, rows });
  let store: Store | undefined;
  try {
    store = await copy.complete();
    checkRelease(await readClusterRow(store), ownRelease);
    await checkKeys(store, directory);
  } catch (error) {
    if (!store) await copy.abandon();
    throw error;
  } finally {
    await store?.close();
  }
}

/** Rejects when Secrets are encrypted with a key that the backup does not have. */
async function checkKeys(store: Store, directory: string): Promise<void> {
  const encrypted = encryptedWith(store, await readKeys(keyFileIn(directory)), systemRandom);
  await encrypted.list('/registry/core/secrets/', { damaged: () => undefined });
}

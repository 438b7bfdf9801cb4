/** Takes a backup of a cluster that does not run. Its directory is locked meanwhile. */
import { existsSync } from 'node:fs';
import { Cleanup } from '../../../assembly/cleanup.ts';
import { archiveIn, archiveOf, startArchive } from '../../../assembly/store/archive.ts';
import { readSavedFiles } from '../../../assembly/store/backups/saved-files.ts';
import { keyFileIn } from '../../../assembly/store/encryption.ts';
import { BackupKeeper } from '../../../backup/keeping/keeper.ts';
import type { TakenBackup } from '../../../backup/keeping/report.ts';
import { takeBackup } from '../../../backup/taking/take.ts';
import { systemRandom } from '../../../base/random.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { defaultStore, storeDriver } from '../../../store/drivers.ts';
import { CliError } from '../../output/cli-error.ts';
import { createLogger } from '../../output/logger.ts';
import { explainDamage } from '../../output/store-damage.ts';
import { ownRelease } from '../../process/version.ts';
import { backupLocation, explained, openBackupTarget, sealFor } from '../../up/store/backups/targets.ts';
import { openSource } from '../migrate/sides.ts';
import type { BackedUpCluster } from './cluster.ts';

export async function takeStopped(
  { name, directory, settings }: BackedUpCluster,
  to: string | undefined,
): Promise<TakenBackup> {
  const driver = storeDriver(settings.store ?? defaultStore);
  if (!driver.durable) throw new CliError(`the objects of this cluster were in ${driver.location}, and are gone`);
  const location = to ?? backupLocation(settings, directory);
  const log = createLogger('warn');
  const target = await openBackupTarget(location);
  const seal = await sealFor(settings, location, (problem) =>
    log.warn('the encryption of backups is weak', { problem }),
  );
  const cleanup = new Cleanup();
  const tools = { clock: systemClock, random: systemRandom, log };
  try {
    const { store } = await openSource({
      ...tools,
      settings,
      driver,
      directory,
      path: process.env.PATH ?? '',
      cleanup,
    });
    const keyFile = settings.encryptionKeyFile ?? keyFileIn(directory);
    const archive = existsSync(archiveIn(directory))
      ? archiveOf({ store, directory, limits: KEEP_HISTORY, clock: systemClock, log, cleanup })
      : undefined;
    if (archive) startArchive(archive, log);
    const keeper = new BackupKeeper({
      ...tools,
      cluster: name,
      target,
      seal,
      policy: KEEP_ALL,
      take: ({ since, signal }) =>
        takeBackup({
          store,
          archive,
          since,
          about: { cluster: name, release: ownRelease, store: driver.name },
          files: () => readSavedFiles(directory, keyFile),
          withoutHistory: (error) => log.warn('history cannot be read, and is not part of the backup', { error }),
          clock: systemClock,
          // Nobody else waits for this process.
          share: 1,
          signal,
        }),
    });
    return await keeper.take('manual', new AbortController().signal);
  } catch (error) {
    return explainDamage(explained(error));
  } finally {
    await cleanup.run();
  }
}

/** Limits of the history are those of the server. */
const KEEP_HISTORY = { milliseconds: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER };

/** A manual backup is no reason to remove others. */
const KEEP_ALL = { hourly: Number.POSITIVE_INFINITY, daily: Number.POSITIVE_INFINITY };

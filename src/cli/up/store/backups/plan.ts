/** The backups that the settings of a cluster ask for. */
import type { BackupPlan } from '../../../../assembly/store/backups/open-backups.ts';
import type { Seal } from '../../../../backup/seal.ts';
import type { BackupTarget } from '../../../../backup/target.ts';
import type { Logger } from '../../../../base/log.ts';
import { storeDriver } from '../../../../store/drivers.ts';
import { checkWritableDirectory } from '../../../process/writable.ts';
import type { Settings } from '../../flags.ts';
import { takeRequestedTarget } from './request.ts';
import { backupLocation, isBucket, openBackupTarget, sealFor } from './targets.ts';

export interface BackupInputs {
  readonly target: BackupTarget;
  readonly seal: Seal | undefined;
}

/** Rejects when the settings cannot be used. Resolves with undefined when there is nothing to back up. */
export async function readBackupInputs(
  settings: Settings,
  directory: string,
  log: Logger,
): Promise<BackupInputs | undefined> {
  if (!storeDriver(settings.store).durable) return undefined;
  const location = backupLocation(settings, directory);
  if (settings.backupTo !== undefined && !isBucket(location)) await checkWritableDirectory('--backup-to', location);
  const seal = await sealFor(settings, location, (problem) =>
    log.warn('the encryption of backups is weak', { problem }),
  );
  return { target: await openBackupTarget(location), seal };
}

export function backupPlan(
  { name: cluster, backups: isScheduled, backupKeep: policy }: Settings,
  directory: string,
  inputs: BackupInputs | undefined,
): BackupPlan | undefined {
  if (!inputs) return undefined;
  return {
    ...inputs,
    cluster,
    policy,
    isScheduled,
    async targetFor(id) {
      const location = await takeRequestedTarget(directory, id);
      return location === undefined ? undefined : openBackupTarget(location);
    },
  };
}

/** Opens targets of backups, and reads the keys that backups are encrypted with. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Seal, SealError, type Unseal } from '../../../../backup/seal.ts';
import { createSeal, createUnseal, type UnsealSettings } from '../../../../backup/seals/age.ts';
import { type BackupTarget, TargetError } from '../../../../backup/target.ts';
import { systemRandom } from '../../../../base/random.ts';
import { systemClock } from '../../../../base/time/clock.ts';
import { CliError } from '../../../output/cli-error.ts';
import type { BackupFlags } from './flags.ts';

type LocationFlags = Partial<BackupFlags>;

/** Where the backups of a cluster go. */
export const backupLocation = ({ backupTo }: LocationFlags, directory: string) =>
  backupTo ?? join(directory, 'backups');

export const isBucket = (location: string) => location.startsWith('s3://');

/** Opens a directory or a bucket. Rejects when it cannot be one; whether it can be reached shows when it is used. */
export async function openBackupTarget(location: string): Promise<BackupTarget> {
  const { openTarget } = await import('../../../../backup/targets/open-target.ts');
  const environment = { variables: process.env, home: homedir() };
  const context = { clock: systemClock, random: systemRandom, environment, workingDirectory: process.cwd() };
  return openTarget(location, context).catch((error) => {
    throw explained(error);
  });
}

/** The seal that the settings of a cluster ask for. Rejects when there is none, and the target is a bucket. */
export async function sealFor(
  settings: LocationFlags,
  location: string,
  warn: (problem: string) => void,
): Promise<Seal | undefined> {
  const { backupPassphraseFile: passphraseFile, backupRecipient: recipients } = settings;
  const created = await createSeal({ passphraseFile, recipients }, systemRandom).catch((error) => {
    throw explained(error);
  });
  if (!created && isBucket(location)) {
    throw new CliError(
      `backups have the keys of the cluster in them, and ${location} is not on this machine: encrypt them with --backup-passphrase-file or --backup-recipient`,
    );
  }
  for (const problem of created?.warnings ?? []) warn(problem);
  return created?.seal;
}

export async function unsealWith(keys: UnsealSettings, warn: (problem: string) => void): Promise<Unseal | undefined> {
  const created = await createUnseal(keys).catch((error) => {
    throw explained(error);
  });
  for (const problem of created?.warnings ?? []) warn(problem);
  return created?.unseal;
}

/** Errors of targets and keys explain themselves. */
export function explained(error: unknown): unknown {
  if (!(error instanceof TargetError || error instanceof SealError)) return error;
  return new CliError(error.message, { cause: error });
}

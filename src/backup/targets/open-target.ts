/** Chooses the target that a text names. */
import { isAbsolute, resolve } from 'node:path';
import type { Random } from '../../base/random.ts';
import type { Clock } from '../../base/time/clock.ts';
import { type BackupTarget, TargetError } from '../target.ts';
import { DirectoryTarget } from './directory.ts';
import { S3Client } from './s3/client.ts';
import type { AwsEnvironment } from './s3/profile.ts';
import { readSettings } from './s3/settings.ts';
import { S3Target } from './s3/target.ts';

export interface TargetContext {
  readonly clock: Clock;
  readonly random: Random;
  /** Environment and home directory of the program, for buckets. */
  readonly environment: AwsEnvironment;
  /** Directory that relative paths begin at. */
  readonly workingDirectory: string;
}

/** Opens `s3://BUCKET/PREFIX?…` or a directory. Connects to nothing and creates nothing; throws a TargetError for wrong settings. */
export async function openTarget(location: string, context: TargetContext): Promise<BackupTarget> {
  const { clock, random, environment, workingDirectory } = context;
  if (location.startsWith('s3://')) {
    const settings = await readSettings(location, environment);
    return new S3Target(new S3Client(settings, { clock, ca: settings.ca }, random));
  }
  if (location === '' || /^[a-z0-9+.-]+:\/\//i.test(location)) {
    const found = JSON.stringify(location.slice(0, 200));
    throw new TargetError('Invalid', `expected a directory or s3://BUCKET/PREFIX for backups; found ${found}`);
  }
  const directory = isAbsolute(location) ? location : resolve(workingDirectory, location);
  return new DirectoryTarget(directory, { random, now: () => clock.now() });
}

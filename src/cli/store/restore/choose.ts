/** Finds the backups from which a moment can be restored. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type ClusterBackup, listBackups } from '../../../backup/keeping/cluster-backups.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { CliError } from '../../output/cli-error.ts';
import { backupLocation, explained, isBucket, openBackupTarget } from '../../up/store/backups/targets.ts';
import { type BackedUpCluster, clusterOf } from '../backup/cluster.ts';
import { takeNow } from '../backup/now.ts';
import { type BackupSource, inFile, inTarget, isFile } from '../backup/sources.ts';

export interface Choice {
  /** In the order in which they are tried: the first that reaches back to the moment is it. */
  readonly sources: readonly BackupSource[];
  /** Settings of the cluster that has taken them, when it is on this machine. */
  readonly origin: BackedUpCluster | undefined;
}

export interface Wanted {
  /** Milliseconds since the epoch; undefined: the newest state that was saved. */
  readonly at: number | undefined;
  readonly cluster: string | undefined;
}

const stamp = (time: number) => new Date(time).toISOString();

export async function chooseBackups(from: string, { at, cluster: wanted }: Wanted): Promise<Choice> {
  if (at !== undefined && at > systemClock.now()) throw new CliError(`--at ${stamp(at)} is in the future`);
  if (!isBucket(from)) {
    const found = await isFile(from);
    if (found === undefined) throw new CliError(`${from} does not exist`);
    if (found) return { sources: [inFile(resolve(from))], origin: undefined };
  }
  const origin = await clusterAt(from);
  const location =
    origin && resolve(from) === origin.directory ? backupLocation(origin.settings, origin.directory) : from;
  const target = await openBackupTarget(location);
  try {
    const cluster = wanted ?? origin?.name;
    let backups = ofOneCluster(await listBackups(target, cluster), target.name);
    const newest = backups.at(-1);
    if (origin && isNewer(at, newest)) {
      await takeNow(origin, location);
      backups = await listBackups(target, origin.name);
    }
    const suitable = at === undefined ? backups.slice(-1) : backups.filter(({ time }) => time >= wholeSeconds(at));
    if (suitable.length === 0) throw tooNew(at, newest, target.name);
    return { sources: suitable.map(({ name }) => inTarget(target, name)), origin };
  } catch (error) {
    throw explained(error);
  }
}

/** Names of backups have whole seconds. */
const wholeSeconds = (time: number) => Math.floor(time / 1_000) * 1_000;

/** Resolves with the cluster whose data directory this is, or whose backups are in it. */
async function clusterAt(from: string): Promise<BackedUpCluster | undefined> {
  if (isBucket(from)) return undefined;
  const path = resolve(from);
  const directory = [path, dirname(path)].find((each) => existsSync(join(each, 'cluster.json')));
  return directory === undefined ? undefined : clusterOf({ dataDir: directory });
}

/** Reports whether the moment is newer than all backups. Without one, the cluster lives on: its newest state is wanted as it was saved. */
function isNewer(at: number | undefined, newest: ClusterBackup | undefined): boolean {
  return at !== undefined && (newest === undefined || at > newest.time);
}

function ofOneCluster(backups: readonly ClusterBackup[], location: string): readonly ClusterBackup[] {
  const names = [...new Set(backups.map(({ cluster }) => cluster))];
  if (names.length < 2) return backups;
  throw new CliError(`${location} has backups of several clusters; choose one with --cluster: ${names.join(', ')}`);
}

function tooNew(at: number | undefined, newest: ClusterBackup | undefined, location: string): CliError {
  if (!newest || at === undefined) return new CliError(`there are no backups in ${location}`);
  return new CliError(
    `the newest backup in ${location} is of ${stamp(newest.time)}, before ${stamp(at)}; where the cluster lives, restore from its data directory: what is newer is taken from there`,
  );
}

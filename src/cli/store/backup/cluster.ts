/** The cluster whose backups a command is about. */
import { basename, dirname } from 'node:path';
import { directoryOf } from '../../clusters/choice.ts';
import { readLastStart } from '../../clusters/last-start.ts';
import { type ClusterFlags, clustersHome, DEFAULT_NAME } from '../../flags/cluster.ts';
import { CliError } from '../../output/cli-error.ts';
import { rememberedIn } from '../../up/directory/directory.ts';
import type { Remembered } from '../../up/settings/settle.ts';

export interface BackedUpCluster {
  readonly name: string;
  readonly directory: string;
  readonly settings: Remembered;
}

export async function clusterOf(flags: ClusterFlags): Promise<BackedUpCluster> {
  const directory = await directoryOf(flags);
  const settings = await rememberedIn(directory);
  if (Object.keys(settings).length === 0) {
    throw new CliError(`${directory} is not the data directory of a cluster; choose one with --name or --data-dir`);
  }
  return { name: await nameIn(directory), directory, settings };
}

async function nameIn(directory: string): Promise<string> {
  const started = (await readLastStart(directory))?.name;
  return started ?? (dirname(directory) === clustersHome() ? basename(directory) : DEFAULT_NAME);
}

/** `qd down`: stops a cluster or an agent. */
import { systemClock } from '../../base/time/clock.ts';
import { type ClusterFlags, clustersHome } from '../flags/cluster.ts';
import { CliError } from '../output/cli-error.ts';
import { withCluster } from '../process/cluster-process.ts';
import { directoryOf, knownClusters } from './choice.ts';
import { endOutliving, hasOutliving } from './end-outliving.ts';
import { type Cluster, describe, findCluster } from './find.ts';
import type { DownFlags } from './flags.ts';
import { stopCluster } from './stop.ts';

export async function down(flags: DownFlags): Promise<void> {
  const chosen = await chosenCluster(flags);
  const { directory } = chosen;
  const what = describe(chosen);
  const pid = await stopCluster({ directory, timeoutMs: flags.timeout, clock: systemClock });
  const line = pid === undefined ? `${capitalized(what)} is not running.` : `Stopped ${what} (process ${pid}).`;
  process.stdout.write(`${line}\n`);
  if (flags.keepPods || !(await hasOutliving(directory))) return;
  await withCluster(directory, async (running) => {
    if (running !== undefined)
      throw new CliError(`the ${chosen.kind} was started again, as process ${running}; try again`);
    await endOutliving(directory, 'stop');
  });
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Rejects with the names of the clusters that there are. */
export async function chosenCluster(flags: ClusterFlags): Promise<Cluster> {
  const home = clustersHome();
  const directory = await directoryOf(flags);
  const cluster = await findCluster(directory, home);
  if (cluster?.problem !== undefined) throw new CliError(cluster.problem);
  if (cluster) return cluster;
  throw new CliError(
    `${directory} is not the data directory of a cluster; ${await knownClusters(['cluster', 'agent'])}`,
  );
}

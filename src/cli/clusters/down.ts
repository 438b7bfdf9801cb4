/** `qd down`. */
import { systemClock } from '../../base/time/clock.ts';
import { type ClusterFlags, clustersHome } from '../flags/cluster.ts';
import { CliError } from '../output/cli-error.ts';
import { withCluster } from '../process/cluster-process.ts';
import { directoryOf, knownClusters } from './choice.ts';
import { endOutliving, hasOutliving } from './end-outliving.ts';
import { type Cluster, findCluster } from './find.ts';
import type { DownFlags } from './flags.ts';
import { stopCluster } from './stop.ts';

export async function down(flags: DownFlags): Promise<void> {
  const { kind, name, directory, pid: agent } = await chosenCluster(flags);
  if (kind === 'agent') {
    const how = agent === undefined ? 'it does not run' : `stop it with kill ${agent}`;
    throw new CliError(`${directory} is that of the agent of node "${name}", and no cluster: ${how}`);
  }
  const pid = await stopCluster({ directory, timeoutMs: flags.timeout, clock: systemClock });
  const line = pid === undefined ? `Cluster "${name}" is not running.` : `Stopped cluster "${name}" (process ${pid}).`;
  process.stdout.write(`${line}\n`);
  if (flags.keepPods || !(await hasOutliving(directory))) return;
  await withCluster(directory, async (running) => {
    if (running !== undefined) throw new CliError(`the cluster was started again, as process ${running}; try again`);
    await endOutliving(directory, 'stop');
  });
}

/** Rejects with the names of the clusters that there are. */
export async function chosenCluster(flags: ClusterFlags): Promise<Cluster> {
  const home = clustersHome();
  const directory = await directoryOf(flags);
  const cluster = await findCluster(directory, home);
  if (cluster?.problem !== undefined) throw new CliError(cluster.problem);
  if (cluster) return cluster;
  throw new CliError(`${directory} is not the data directory of a cluster; ${await knownClusters()}`);
}

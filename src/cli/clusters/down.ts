/** `qd down`. */
import { systemClock } from '../../base/time/clock.ts';
import { type ClusterFlags, clustersHome, directoryOf } from '../flags/cluster.ts';
import { CliError } from '../output/cli-error.ts';
import { withCluster } from '../process/cluster-process.ts';
import { endOutliving, hasOutliving } from './end-outliving.ts';
import { type Cluster, findCluster, findClusters } from './find.ts';
import type { DownFlags } from './flags.ts';
import { stopCluster } from './stop.ts';

export async function down(flags: DownFlags): Promise<void> {
  const { name, directory } = await chosenCluster(flags);
  const pid = await stopCluster({ directory, timeoutMs: flags.timeout, clock: systemClock });
  const line = pid === undefined ? `Cluster "${name}" is not running.` : `Stopped cluster "${name}" (process ${pid}).`;
  process.stdout.write(`${line}\n`);
  if (flags.keepPods || !(await hasOutliving(directory))) return;
  await withCluster({ name, dataDir: directory }, async (running) => {
    if (running !== undefined) throw new CliError(`the cluster was started again, as process ${running}; try again`);
    await endOutliving(directory, 'stop');
  });
}

/** Rejects with the names of the clusters that there are. */
export async function chosenCluster(flags: ClusterFlags): Promise<Cluster> {
  const home = clustersHome();
  const directory = directoryOf(flags);
  const cluster = await findCluster(directory, home);
  if (cluster?.problem !== undefined) throw new CliError(cluster.problem);
  if (cluster) return cluster;
  const others = await findClusters(home);
  const known = others.map(({ name, state }) => (state === 'stopped' ? name : `${name} (${state})`)).join(', ');
  const hint = known === '' ? 'qd list shows no clusters' : `qd list shows: ${known}`;
  throw new CliError(
    `${directory} is not the data directory of a cluster; choose one with --name or --data-dir; ${hint}`,
  );
}

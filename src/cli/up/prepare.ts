/** Everything that can refuse a start, before anything is created: the data directory, the settings, what they refer to. */
import type { Random } from '../../base/random.ts';
import { findElsewhere } from '../clusters/elsewhere.ts';
import { clustersHome, DEFAULT_NAME, directoryOf } from '../flags/cluster.ts';
import { CliError } from '../output/cli-error.ts';
import { findClusterProcess } from '../process/cluster-process.ts';
import { freePort } from '../process/listen.ts';
import { hasRealPods } from './components/plan-nodes.ts';
import type { Environment, StartContext } from './context.ts';
import { type Directory, openDirectory, otherClusters } from './directory/directory.ts';
import type { Settings } from './flags.ts';
import { type Inputs, readInputs } from './inputs.ts';
import { machineAddresses } from './listeners/addresses.ts';
import { clashOf } from './settings/free.ts';
import { type GivenFlags, settle } from './settings/settle.ts';

export interface Prepared {
  readonly directory: Directory;
  readonly context: StartContext;
}

/** Resolves when nothing is known that speaks against the start. The data directory is yet to be created. */
export async function prepare(given: GivenFlags, environment: Environment): Promise<Prepared> {
  const directory = await openDirectory(directoryOf({ name: DEFAULT_NAME, ...given }));
  environment.cleanup.add(() => directory.release());
  const settings = await settleAll(given, directory, environment.random);
  const inputs = await readInputs(settings, {
    ...{ directory: directory.path, path: process.env.PATH ?? '', clock: environment.clock },
  });
  await checkNeighbours(settings, inputs, directory.path);
  return { directory, context: { ...environment, settings, inputs, directory: directory.path } };
}

/** The port is never 0: certificates and the endpoints of the server name it before it is listened on. */
async function settleAll(given: GivenFlags, { remembered, path }: Directory, random: Random): Promise<Settings> {
  const settings = await settle(given, remembered, {
    otherClusters: () => neighbours(path),
    serviceRanges: async () => (await import('./components/services.ts')).serviceRangesInUse(process.env.PATH ?? ''),
    addresses: machineAddresses,
  });
  return settings.port === 0 ? { ...settings, port: await freePort(settings.bindAddress, random) } : settings;
}

/** The clusters of this user in other directories. */
async function neighbours(path: string): ReturnType<typeof otherClusters> {
  const home = clustersHome();
  return otherClusters(home, path, await findElsewhere(home));
}

/** Rejects when another cluster runs whose rules on this machine would meet those of this one. */
async function checkNeighbours(settings: Settings, { nodes }: Inputs, path: string): Promise<void> {
  if (process.getuid?.() !== 0 || !hasRealPods(nodes)) return;
  for (const other of await neighbours(path)) {
    const clash = clashOf(settings, other);
    const holder = clash && (await findClusterProcess(other.directory));
    if (!holder) continue;
    throw new CliError(
      `${clash} of the cluster in ${other.directory}, which process ${holder.pid} runs on this machine: their rules would meet; stop that one with qd down --data-dir ${other.directory}, or choose other ranges with another --data-dir`,
    );
  }
}

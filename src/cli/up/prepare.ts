/** Everything that can refuse a start, before anything is created: the data directory, the settings, what they refer to. */
import type { Random } from '../../base/random.ts';
import { clustersHome, DEFAULT_NAME, directoryOf } from '../flags/cluster.ts';
import { freePort } from '../process/listen.ts';
import type { Environment, StartContext } from './context.ts';
import { type Directory, openDirectory, otherClusters } from './directory/directory.ts';
import type { Settings } from './flags.ts';
import { readInputs } from './inputs.ts';
import { machineAddresses } from './listeners/addresses.ts';
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
  return { directory, context: { ...environment, settings, inputs, directory: directory.path } };
}

/** The port is never 0: certificates and the endpoints of the server name it before it is listened on. */
async function settleAll(given: GivenFlags, { remembered, path }: Directory, random: Random): Promise<Settings> {
  const settings = await settle(given, remembered, {
    otherClusters: () => otherClusters(clustersHome(), path),
    addresses: machineAddresses,
  });
  return settings.port === 0 ? { ...settings, port: await freePort(settings.bindAddress, random) } : settings;
}

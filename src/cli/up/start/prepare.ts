/** Everything that can reject a start, before anything is created: the data directory, the settings, what they refer to. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { machineAddresses } from '../../../assembly/addresses.ts';
import { hasRealPods } from '../../../assembly/cluster-nodes/node-plan.ts';
import type { JoinBundle } from '../../../assembly/etcd/join/bundle.ts';
import { silent } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { storeDriver } from '../../../store/drivers.ts';
import { findElsewhere } from '../../clusters/elsewhere/elsewhere.ts';
import { clustersHome, DEFAULT_NAME, directoryNamed } from '../../flags/cluster.ts';
import { CliError } from '../../output/cli-error.ts';
import { findClusterProcess } from '../../process/cluster-process.ts';
import { freePort } from '../../process/listen.ts';
import { ownRelease } from '../../process/version.ts';
import type { Environment, StartContext } from '../context.ts';
import { type Directory, openDirectory, otherClusters } from '../directory/directory.ts';
import type { Settings } from '../flags.ts';
import { askCluster, type Joining } from '../ha/join.ts';
import { withOwnEtcd } from '../ha/member-plan.ts';
import { type AgreedSettings, readAgreed } from '../settings/agreed-settings.ts';
import { clashOf } from '../settings/free.ts';
import { freeFromRules, hasLeftRules } from '../settings/left-rules.ts';
import { type Reservation, type Reserved, reserve } from '../settings/reservations.ts';
import { type GivenFlags, type Remembered, settle, usesMachine } from '../settings/settle.ts';
import { type Inputs, readInputs } from './inputs.ts';

export interface Prepared {
  readonly directory: Directory;
  readonly context: StartContext;
  /** What the servers of a cluster have answered to one that joins them. */
  readonly joined: JoinBundle | undefined;
}

/** Resolves when nothing is known that speaks against the start. The data directory is yet to be created. */
export async function prepare(given: GivenFlags, environment: Environment): Promise<Prepared> {
  const directory = await openDirectory(directoryNamed({ name: DEFAULT_NAME, ...given }), environment.lock);
  environment.cleanup.add(() => directory.release());
  checkStoreDirectory(directory.remembered);
  const joining = await askCluster(given, directory, environment.path);
  const choose = { joining, flags: joining?.flags ?? given };
  const { chosen: settings, earlier } = await reserveSettings(choose, directory, environment);
  const inputs = await readInputs(settings, {
    directory: directory.path,
    path: process.env.PATH ?? '',
    clock: environment.clock,
    log: environment.log,
  });
  await checkNeighbours({ settings, inputs, path: directory.path, earlier });
  return {
    directory,
    joined: joining?.bundle,
    context: { ...environment, settings, inputs, directory: directory.path },
  };
}

/** A disk that is not mounted would otherwise be a cluster without objects. */
function checkStoreDirectory({ storeDir }: Remembered): void {
  if (storeDir === undefined || existsSync(join(storeDir, 'format'))) return;
  throw new CliError(`the objects of this cluster are in ${storeDir}, which has no store; is its disk mounted?`);
}

interface Given {
  readonly flags: GivenFlags;
  readonly joining: Joining | undefined;
}

/** Finds the settings and reserves their port and ranges, until the cluster stops. */
async function reserveSettings(
  given: Given,
  directory: Directory,
  environment: Environment,
): Promise<Pick<Reservation<Settings>, 'chosen' | 'earlier'>> {
  const { cleanup, machineClock: clock, random } = environment;
  if (!usesMachine(given.flags, directory.remembered)) {
    return { chosen: await settleAll(given, directory, { random, reserved: [] }), earlier: async () => [] };
  }
  const reservation = await reserve({ folder: reservationsFolder(), directory: directory.path, clock }, (reserved) =>
    settleAll(given, directory, { random, reserved }),
  );
  cleanup.add(() => reservation.release());
  return reservation;
}

/** Only root has rules on the machine, whatever its home is. */
const reservationsFolder = () =>
  process.getuid?.() === 0 && existsSync('/run') ? '/run/quarterdeck' : join(clustersHome(), '.running');

interface Choice {
  readonly random: Random;
  /** Reservations of other clusters that run or start now. */
  readonly reserved: readonly Reserved[];
}

/** The port is never 0: certificates and the endpoints of the server name it before it is listened on. */
async function settleAll(
  { flags: given, joining }: Given,
  { remembered, path }: Directory,
  { random, reserved }: Choice,
): Promise<Settings> {
  const settings = await settle(withOwnEtcd(given, remembered, path), remembered, {
    otherClusters: async () => [...(await neighbours(path)), ...reserved],
    serviceRanges: async () =>
      (await import('../../../assembly/node/network/services.ts')).serviceRangesInUse(process.env.PATH ?? ''),
    addresses: machineAddresses,
    // An etcd of its own does not run yet; the settings are compared when it does.
    agreed: async (known) => joining?.bundle.settings ?? (known.ha ? {} : readAgreedIn(known, path)),
  });
  return settings.port === 0 ? { ...settings, port: await freePort(settings.bindAddress, random) } : settings;
}

async function readAgreedIn(settings: Settings, directory: string): Promise<AgreedSettings> {
  const store = await storeDriver(settings.store).open(settings, { directory, clock: systemClock, log: silent });
  try {
    return await readAgreed(store, ownRelease);
  } finally {
    await store.close();
  }
}

/** The clusters of this user in other directories. */
async function neighbours(path: string): ReturnType<typeof otherClusters> {
  const home = clustersHome();
  return otherClusters(home, path, await findElsewhere(home));
}

interface Neighbourhood {
  readonly settings: Settings;
  readonly inputs: Inputs;
  readonly path: string;
  /** Reservations of clusters that run or start now, and did so before this start. */
  readonly earlier: () => Promise<readonly Reserved[]>;
}

/** Rejects when another cluster has rules on this machine that would meet those of this one. */
async function checkNeighbours({ settings, inputs, path, earlier }: Neighbourhood): Promise<void> {
  if (process.getuid?.() !== 0 || !hasRealPods(inputs.nodes)) return;
  const programs = process.env.PATH ?? '';
  await freeFromRules(settings.port, path, programs);
  for (const other of [...(await earlier()), ...(await neighbours(path))]) {
    const clash = clashOf(settings, other);
    const pid = clash && ('pid' in other ? other.pid : (await findClusterProcess(other.directory))?.pid);
    if (!clash || (!pid && !(await hasLeftRules(other.directory, programs)))) continue;
    const why = pid ? `which process ${pid} runs on this machine` : 'which is stopped, and whose pods and rules go on';
    throw new CliError(
      `${clash} of the cluster in ${other.directory}, ${why}: their rules would meet; stop that one with qd down --data-dir ${other.directory}, or choose other ranges with another --data-dir`,
    );
  }
}

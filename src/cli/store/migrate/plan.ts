/** The settings of a cluster after a migration. Nothing is opened or created here. */
import { FlagError, longName, propertyOf } from '../../../base/flag.ts';
import { defaultStore, type StoreSettings, storeDriver, storeDrivers } from '../../../store/drivers.ts';
import { CliError } from '../../output/cli-error.ts';
import { nodeCount } from '../../up/components/plan-nodes.ts';
import { type Settings, upFlags } from '../../up/flags.ts';
import { withOwnEtcd } from '../../up/ha/member-plan.ts';
import type { GivenFlags, Remembered } from '../../up/settings/settle.ts';

export interface MigrationPlan {
  readonly from: Remembered;
  readonly to: Remembered;
}

export interface PlanOptions {
  readonly given: GivenFlags;
  readonly target: Settings['store'];
  /** What the cluster was started with last. */
  readonly remembered: Remembered;
  /** The name of the cluster. */
  readonly name: string;
  readonly directory: string;
}

/** Settings of an etcd that the server runs. */
const OF_MEMBER: readonly (keyof Settings)[] = ['ha', 'serverName', 'etcdPort', 'etcdPeerPort'];
const OF_DRIVERS = storeDrivers.flatMap(({ flags }) => flags.map(propertyOf)) as (keyof Settings)[];

/** Throws when the flags do not go together, or there is nothing to do. */
export function planMigration({ given, target, remembered, name, directory }: PlanOptions): MigrationPlan {
  const store = remembered.store ?? defaultStore;
  const from: Remembered = { ...remembered, store };
  if (!storeDriver(store).durable)
    throw new CliError(`there is nothing to move: the objects of this cluster are in ${store}`);
  const kept: Remembered = without({ ...from, store: target }, [...OF_MEMBER, ...OF_DRIVERS]);
  const nodes = keptNodes(from, name);
  if (given.ha) {
    if (target !== 'etcd') throw new CliError('--ha needs --to etcd');
    if (from.ha) throw new CliError('the objects of this cluster are in an etcd of its own already');
    const base = without(kept, ['store']);
    return { from, to: { ...kept, ...withOwnEtcd(given, base, directory), ...nodes } };
  }
  withOwnEtcd(given, {}, directory); // Rejects flags that need --ha.
  if (given.bindAddress !== undefined) throw new CliError('--bind-address needs --ha');
  const to: Remembered = { ...kept, ...given, ...nodes };
  checkTarget(given, from, to);
  return { from, to };
}

function checkTarget(given: GivenFlags, from: Remembered, to: Remembered): void {
  const driver = storeDriver(to.store!);
  for (const { name, flags } of storeDrivers) {
    const misplaced = flags.find((flag) => given[propertyOf(flag) as keyof Settings] !== undefined);
    if (name !== to.store && misplaced) throw new CliError(`${longName(misplaced)} needs --to ${name}`);
  }
  try {
    driver.check(to as StoreSettings);
  } catch (error) {
    if (!(error instanceof FlagError)) throw error;
    throw new CliError('--to etcd needs --ha, for an etcd that qd runs, or --etcd-servers', { cause: error });
  }
  const isSame =
    to.store === from.store && String(to.etcdServers) === String(from.etcdServers) && to.storeDir === from.storeDir;
  if (isSame) throw new CliError(`the objects of this cluster are in ${locationOf(to)} already`);
}

/** The settings of a cluster whose objects come into the data directory, wherever they were. */
export function settingsOnEmbedded(remembered: Remembered, name: string): Remembered {
  const kept: Remembered = without({ ...remembered, store: 'embedded' }, [...OF_MEMBER, ...OF_DRIVERS]);
  return { ...kept, ...keptNodes(remembered, name) };
}

/** Where the objects are, for people. */
export function locationOf({ store = defaultStore, storeDir }: Remembered): string {
  return storeDir ?? storeDriver(store).location;
}

/** Defaults depend on the store, and a node must not change its name or vanish. */
function keptNodes(from: Remembered, name: string): Remembered {
  const { runtime = 'auto', nodes, store = defaultStore } = from;
  return { nodes: nodeCount({ runtime, nodes, store }), nodeName: from.nodeName ?? `${name}-node-1` };
}

function without(settings: Remembered, names: readonly (keyof Settings)[]): Remembered {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !names.includes(name as keyof Settings)));
}

/** The flags of `qd up` among those of the command. */
export function settingsIn(flags: object): GivenFlags {
  const names = upFlags.filter(({ remembered }) => remembered).map(propertyOf);
  return Object.fromEntries(
    Object.entries(flags).filter(([name, value]) => names.includes(name) && value !== undefined),
  );
}

/** Opens what a migration reads, and prepares what it fills. An etcd that belongs to the server is started for that. */
import type { Cleanup } from '../../../assembly/cleanup.ts';
import type { Tools } from '../../../assembly/context.ts';
import { discardMember, startMember } from '../../../assembly/etcd/member.ts';
import { listServers } from '../../../assembly/etcd/members.ts';
import { checkRelease } from '../../../assembly/store/releases/check-release.ts';
import { readClusterRow } from '../../../assembly/store/releases/cluster-row.ts';
import type { AnyStoreDriver, StoreSettings } from '../../../store/drivers.ts';
import { observeForeignWrites } from '../../../store/migration/foreign-writes.ts';
import type { Store } from '../../../store/store.ts';
import { CliError } from '../../output/cli-error.ts';
import { ownRelease } from '../../process/version.ts';
import type { Settings } from '../../up/flags.ts';
import { memberPlan } from '../../up/ha/member-plan.ts';
import type { Remembered } from '../../up/settings/settle.ts';

export interface Side extends Tools {
  readonly settings: Remembered;
  readonly driver: AnyStoreDriver;
  readonly directory: string;
  /** Where programs are searched. */
  readonly path: string;
  readonly cleanup: Cleanup;
}

export interface Source {
  readonly store: Store;
  /** Throws when another server has written to the store. */
  checkAlone(): void;
}

export async function openSource(side: Side): Promise<Source> {
  const { settings, driver, directory, cleanup, clock, log } = side;
  await startOwnMember(side);
  const store = await driver.open(settings as StoreSettings, { directory, clock, log });
  cleanup.add(() => store.close());
  checkRelease(await readClusterRow(store), ownRelease);
  if (driver.shared) await checkMembers(side);
  return { store, checkAlone: await observed(side, store) };
}

/** Nobody else reaches an etcd whose only member is this server's. */
async function observed({ settings, driver, clock, cleanup }: Side, store: Store): Promise<() => void> {
  if (!driver.shared || settings.ha) return () => undefined;
  const explained = (cause: unknown) =>
    new CliError(`${(cause as Error).message}: stop all servers of the cluster before its objects are moved`, {
      cause,
    });
  const writes = await observeForeignWrites(store, clock).catch((error: unknown) => Promise.reject(explained(error)));
  cleanup.add(async () => writes.stop());
  return () => {
    try {
      writes.check();
    } catch (error) {
      throw explained(error);
    }
  };
}

interface Prepared {
  /** Removes what was prepared. */
  discard(): Promise<void>;
}

export async function prepareTarget(side: Side): Promise<Prepared> {
  const discard = async () => {
    if (side.settings.ha) await discardMember(side.directory, side.clock);
  };
  // An interrupted migration may have left one.
  await discard();
  await startOwnMember(side);
  return { discard };
}

async function startOwnMember({ settings, directory, path, ...tools }: Side): Promise<void> {
  const plan = memberPlan(settings as Settings);
  if (plan) await startMember({ ...tools, ...plan, directory, path });
}

/** Rejects while other servers use the etcd that this one runs: they would go on with it. */
export async function checkMembers({
  settings,
  directory,
  clock,
}: Pick<Side, 'settings' | 'directory' | 'clock'>): Promise<void> {
  const { ha, etcdServers: endpoints = [] } = settings;
  if (!ha) return;
  const servers = await listServers({ directory, endpoints, clock });
  if (servers.length < 2) return;
  const names = servers.map(({ name, url }) => name || url).join(', ');
  throw new CliError(
    `the cluster has ${servers.length} servers (${names}), and only one can move its objects; remove the others first, with qd server remove NAME`,
  );
}

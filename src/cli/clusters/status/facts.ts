/** What a cluster and its data directory say about themselves. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BACKUPS_PATH, type BackupStatus } from '../../../api/backups.ts';
import { UnexpectedCode } from '../../../assembly/control-plane/fetch-json.ts';
import { listBackups } from '../../../backup/keeping/cluster-backups.ts';
import { type Client, createClient } from '../../../client/client.ts';
import { httpsTransport } from '../../../client/transport/http/https-transport.ts';
import { Lease } from '../../../kinds/groups/coordination/lease.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { hostPort, LEASE_NAMESPACE, LEASE_SELECTOR, readLease } from '../../../server/upkeep/peers/lease.ts';
import { defaultStore, type StoreSettings, storeDriver } from '../../../store/drivers.ts';
import { type ClusterFlags, clustersHome } from '../../flags/cluster.ts';
import { CliError, explain } from '../../output/cli-error.ts';
import { callOwnServer } from '../../process/own-server.ts';
import { rememberedIn } from '../../up/directory/directory.ts';
import type { Remembered } from '../../up/settings/settle.ts';
import { backupLocation, openBackupTarget } from '../../up/store/backups/targets.ts';
import { connectionFor, directoryOf } from '../choice.ts';
import { type Cluster, findCluster } from '../find.ts';

export interface Facts {
  readonly cluster: Cluster;
  /** What the server says; undefined: it does not run. */
  readonly api: ApiFacts | undefined;
  /** Why the server does not answer. */
  readonly problem: string | undefined;
  readonly store: { readonly name: string; readonly isDurable: boolean; readonly bytes: number | undefined };
  /** Undefined for a store that does not outlive the process. */
  readonly backups: Omit<BackupStatus, 'request'> | undefined;
}

interface ApiFacts {
  /** Addresses of the servers, where several may share the store. */
  readonly servers: readonly string[];
  readonly nodes: number;
  /** Names of nodes that are not ready. */
  readonly unready: readonly string[];
}

export async function factsOf(flags: ClusterFlags): Promise<Facts> {
  const directory = await directoryOf(flags);
  const cluster = await findCluster(directory, clustersHome());
  if (cluster?.kind !== 'cluster') {
    throw new CliError(`${directory} is not the data directory of a cluster; choose one with --name or --data-dir`);
  }
  const settings = await rememberedIn(directory);
  const { name, durable: isDurable } = storeDriver(settings.store ?? defaultStore);
  const store = { name, isDurable, bytes: await storeBytes(directory, settings) };
  if (cluster.state !== 'running') {
    const backups = isDurable ? await backupsIn(cluster, settings) : undefined;
    return { cluster, api: undefined, problem: undefined, store, backups };
  }
  try {
    const [api, backups] = await Promise.all([apiFacts(directory), isDurable ? askBackups(directory) : undefined]);
    return { cluster, api, problem: undefined, store, backups };
  } catch (error) {
    return { cluster, api: undefined, problem: explain(error), store, backups: undefined };
  }
}

/** Undefined for a server of a release that takes no backups. */
async function askBackups(directory: string): Promise<BackupStatus | undefined> {
  try {
    return (await callOwnServer(directory, BACKUPS_PATH)) as BackupStatus;
  } catch (error) {
    if (error instanceof UnexpectedCode && error.code === 404) return undefined;
    throw error;
  }
}

async function apiFacts(directory: string): Promise<ApiFacts> {
  const transport = httpsTransport({ ...(await connectionFor({ dataDir: directory })), userAgent: 'qd-status' });
  try {
    const client = createClient(transport);
    const [nodes, servers] = await Promise.all([client.of(Node).list(), serversOf(client)]);
    const unready = nodes.items.filter((node) => !isReady(node as Node)).map(({ metadata }) => metadata.name ?? '');
    return { servers, nodes: nodes.items.length, unready };
  } finally {
    transport.close();
  }
}

async function serversOf(client: Client): Promise<readonly string[]> {
  const { items } = await client.of(Lease).in(LEASE_NAMESPACE).list({ labelSelector: LEASE_SELECTOR });
  return items.flatMap((lease) => {
    const read = readLease(lease as Lease);
    return read ? [hostPort(read.server.address)] : [];
  });
}

const isReady = ({ status }: Node) =>
  status?.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True') ?? false;

/** Undefined where objects are not in a directory of this machine. */
async function storeBytes(directory: string, settings: Remembered): Promise<number | undefined> {
  const { snapshots } = storeDriver(settings.store ?? defaultStore);
  if ('instead' in snapshots) return undefined;
  const path = snapshots.pathIn(directory, settings as StoreSettings);
  const names = await readdir(path).catch((): string[] => []);
  const sizes = await Promise.all(
    names.map(async (name) => (await stat(join(path, name)).catch(() => undefined))?.size),
  );
  return sizes.reduce((sum: number, size = 0) => sum + size, 0);
}

/** The backups of a cluster that does not run. */
async function backupsIn({ name, directory }: Cluster, settings: Remembered): Promise<Facts['backups']> {
  const location = backupLocation(settings, directory);
  const none = { target: location, isScheduled: settings.backups ?? true, isRunning: false, failures: 0 };
  try {
    const newest = (await listBackups(await openBackupTarget(location), name)).at(-1);
    return { ...none, newest, lastFailure: undefined };
  } catch (error) {
    return { ...none, newest: undefined, lastFailure: undefined, problem: explain(error) };
  }
}

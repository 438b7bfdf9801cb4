/** `qd reset`: removes what a cluster or an agent has on this machine, and nothing else. */
import { realpath, stat } from 'node:fs/promises';
import { keyFileIn } from '../../assembly/store/encryption.ts';
import { readIfThere } from '../../base/files/own/files.ts';
import { type Clock, systemClock } from '../../base/time/clock.ts';
import { removeContext } from '../../client/kubeconfig/kubeconfig-file.ts';
import { defaultStore, storeDriver } from '../../store/drivers.ts';
import { readAgentFile } from '../agent/agent-file.ts';
import { clustersHome, DEFAULT_NAME } from '../flags/cluster.ts';
import { CliError, explain } from '../output/cli-error.ts';
import { isConfirmed } from '../output/confirm.ts';
import { findClusterProcess, withCluster } from '../process/cluster-process.ts';
import { rememberedIn } from '../up/directory/directory.ts';
import type { Settings } from '../up/flags.ts';
import { publishedFile } from '../up/identity/kubeconfig.ts';
import { directoryOf } from './choice.ts';
import { isUnfinished, removeContents, removeDirectory, removeStore } from './contents.ts';
import { chosenCluster } from './down.ts';
import { forgetElsewhere } from './elsewhere/elsewhere.ts';
import { endOutliving } from './end-outliving.ts';
import { type Cluster, describe, findClusters } from './find.ts';
import type { ResetFlags } from './flags.ts';
import { readLastStart } from './last-start.ts';
import { authorityCheck } from './shares-authority.ts';
import { stopCluster } from './stop.ts';

export async function reset(flags: ResetFlags): Promise<void> {
  const path = await directoryOf(flags);
  const chosen = await toRemove(flags, path);
  const what = describe(chosen);
  const directory = await realpath(path);
  await checkOwner(directory);
  if (chosen.kind === 'cluster') await checkEncryptionKey(directory, flags);
  if (!flags.yes && !(await isWanted(chosen, path))) throw new CliError('nothing was removed');
  const isCounted = chosen.kind === 'cluster' && !(await leaveServersOf(directory, flags));
  const pid = await stopCluster({ directory, timeoutMs: flags.timeout, clock: systemClock });
  if (pid !== undefined) print(`Stopped ${what} (process ${pid}).`);
  const left = await withCluster(directory, async (running) => {
    if (running !== undefined)
      throw new CliError(`the ${chosen.kind} was started again, as process ${running}; try again`);
    await endOutliving(directory, 'remove');
    // The context of the cluster that an agent belongs to is not its own.
    if (chosen.kind === 'cluster') await removeFromKubeconfigs(chosen.name, directory);
    const { storeDir } = await rememberedIn(directory).catch((): Partial<Settings> => ({}));
    if (storeDir !== undefined) await removeStore(storeDir);
    return removeContents(directory);
  });
  await removeDirectory(path, directory);
  await forgetElsewhere(clustersHome(), path);
  print(`Removed ${what} from ${path}.`);
  if (left.length > 0) print(`Left in ${path}, because qd did not create it: ${left.join(', ')}`);
  if (isCounted) print('If the cluster has other servers, they still count this one: run qd server remove there.');
}

/**
 * Takes a server that runs out of the etcd of its cluster: the others would count it among those whose majority they need.
 * Resolves with false for a server that does not run, which cannot.
 */
async function leaveServersOf(directory: string, { timeout }: ResetFlags): Promise<boolean> {
  const { ha, etcdServers = [] } = await rememberedIn(directory).catch((): Partial<Settings> => ({}));
  if (!ha) return true;
  if (!(await findClusterProcess(directory))) return false;
  const { leaveServers } = await import('../../assembly/etcd/members.ts');
  const deadline = systemClock.now() + timeout;
  for (;;) {
    try {
      const others = await leaveServers({ directory, endpoints: etcdServers, clock: systemClock });
      if (others.length > 0) print(`Left the other servers: ${others.join(', ')}.`);
      return true;
    } catch (cause) {
      // A server that was removed before stops by itself, without its etcd.
      if (!(await findClusterProcess(directory))) return true;
      if (systemClock.now() < deadline) continue;
      throw new CliError(
        `this server cannot leave the others: ${explain(cause)}. Nothing was removed. Let most of the servers run, or stop this one with qd down first, and remove it with qd server remove on another`,
        { cause },
      );
    }
  }
}

type Removable = Pick<Cluster, 'kind' | 'name'>;

/** Rejects for a directory that is not that of a cluster or agent. */
async function toRemove(flags: ResetFlags, path: string): Promise<Removable> {
  const agent = await readAgentFile(path);
  if (agent) return { kind: 'agent', name: agent.node };
  // Leftovers of a failed first start are a cluster's, too, although no other command can use them.
  const isLeftOver = await isUnfinished(path).catch(() => false);
  const name = isLeftOver ? (flags.name ?? DEFAULT_NAME) : (await chosenCluster(flags)).name;
  return { kind: 'cluster', name: (await readLastStart(path))?.name ?? name };
}

async function checkOwner(directory: string): Promise<void> {
  const { uid } = await stat(directory);
  const own = process.getuid?.();
  if (own === undefined || uid === own) return;
  throw new CliError(`${directory} belongs to user ${uid}, and you are user ${own}; nothing was removed`);
}

async function isWanted({ kind, name }: Removable, path: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new CliError(`reset removes ${path} for good; confirm with --yes`);
  const all = kind === 'agent' ? 'its pods, keys and volumes' : 'all its objects, keys and volumes';
  return isConfirmed(`Remove ${describe({ kind, name })} with ${all} in ${path}?`);
}

/** Objects on a store outside of the directory stay, and their Secrets need its key. */
async function checkEncryptionKey(directory: string, flags: ResetFlags): Promise<void> {
  if (flags.deleteEncryptionKey || (await readIfThere(keyFileIn(directory))) === undefined) return;
  const { store, etcdServers, ha } = await rememberedIn(directory);
  if (ha || !storeDriver(store ?? defaultStore).shared) return;
  throw new CliError(
    `${keyFileIn(directory)} decrypts what this cluster has in ${store} (${etcdServers?.join(',')}), which reset does not remove: ` +
      'without this file or a copy of it, the Secrets and keys of the cluster are lost, and no server can start on it. ' +
      'Keep a copy in another place, then add --delete-encryption-key',
  );
}

/** A kubeconfig that cannot be changed does not keep the cluster: the user is told. */
async function removeFromKubeconfigs(name: string, directory: string): Promise<void> {
  const others = await urlsOfOthers(directory);
  const files = [...((await readLastStart(directory))?.kubeconfigs ?? []), publishedFile(undefined)];
  for (const file of new Set(files)) {
    try {
      const removed = await removeEntry({ directory, name, file, others, clock: systemClock });
      if (removed) print(`Removed context "${name}" from ${file}.`);
      if (removed?.wasCurrent && removed.others.length > 0) {
        print(`It was the current one; choose another with kubectl config use-context: ${removed.others.join(', ')}`);
      }
    } catch (error) {
      process.stderr.write(`qd: context "${name}" was not removed: ${explain(error)}\n`);
    }
  }
}

/** Where the other clusters of this machine are reached. */
async function urlsOfOthers(directory: string): Promise<ReadonlySet<string>> {
  const clusters = await findClusters(clustersHome());
  const urls = await Promise.all(
    clusters.map(async (each) =>
      (await realpath(each.directory).catch(() => '')) === directory ? [] : (each.url ?? []),
    ),
  );
  return new Set(urls.flat());
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

interface EntryOptions {
  readonly directory: string;
  /** The name of the context. */
  readonly name: string;
  readonly file: string;
  /** The URLs of other clusters of this machine, of which the directory may be a copy. */
  readonly others: ReadonlySet<string>;
  readonly clock: Clock;
}

/**
 * Removes the context of a cluster from a kubeconfig file. Resolves with undefined when there is none. One that trusts an authority of the directory is the cluster's, unless
 * it leads to the original of a copied directory.
 */
async function removeEntry({ directory, name, file, others, clock }: EntryOptions) {
  if (!(await isFile(file))) return undefined;
  const trusts = await authorityCheck(directory);
  return removeContext(file, name, clock, (ca, server = '') => trusts(ca) && !others.has(server));
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}

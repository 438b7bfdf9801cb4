/** The clusters and agents of this machine, and which of them run. Reads only, so that it works beside running clusters. */
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { serverUrl } from '../../assembly/addresses.ts';
import { daemonDirectory } from '../../assembly/threads/daemon-command.ts';
import { runningDaemons } from '../../network/daemon/running.ts';
import { readAgentFile } from '../agent/agent-file.ts';
import { explain } from '../output/cli-error.ts';
import { findClusterProcess } from '../process/cluster-process.ts';
import { rememberedIn } from '../up/directory/directory.ts';
import { findElsewhere } from './elsewhere/elsewhere.ts';
import { readLastStart } from './last-start.ts';

export interface Cluster {
  readonly kind: 'cluster' | 'agent';
  /** That of the node for an agent. */
  readonly name: string;
  readonly directory: string;
  /** `starting` until the cluster, or the node of the agent, is ready; `unreadable` when the directory cannot be read, for the reason in `problem`. */
  readonly state: 'running' | 'starting' | 'stopped' | 'unreadable';
  readonly pid?: number;
  /** The process that goes on to serve DNS and Ingress of a cluster that is stopped. */
  readonly networkPid?: number;
  readonly url?: string;
  /** The release of qd that started it last. */
  readonly version?: string;
  /** The number of nodes at its last start. */
  readonly nodes?: number;
  readonly problem?: string;
}

/** Name of a cluster or agent in messages. */
export const describe = ({ kind, name }: Pick<Cluster, 'kind' | 'name'>): string =>
  kind === 'agent' ? `agent of node "${name}"` : `cluster "${name}"`;

/** Resolves with the clusters and agents below `home` and those elsewhere that were started by this user, ordered by name. */
export async function findClusters(home: string): Promise<readonly Cluster[]> {
  const names = await readdir(home).catch((): string[] => []);
  const directories = [...names.map((name) => join(home, name)), ...(await findElsewhere(home))];
  const found = await Promise.all(directories.map((directory) => findCluster(directory, home)));
  return found
    .filter((cluster) => cluster !== undefined)
    .sort((a, b) => compare(a.name, b.name) || compare(a.directory, b.directory));
}

/** Resolves with undefined when the directory is not that of a cluster or agent. */
export async function findCluster(directory: string, home: string): Promise<Cluster | undefined> {
  const own = dirname(directory) === home ? basename(directory) : undefined;
  try {
    if (!(await stat(directory)).isDirectory()) return undefined;
    const [agent, settings, start, holder, daemons] = await Promise.all([
      readAgentFile(directory),
      rememberedIn(directory),
      readLastStart(directory),
      findClusterProcess(directory),
      runningDaemons(daemonDirectory(directory)),
    ]);
    if (agent) {
      const { node: name, server: url, version, readyPid } = agent;
      const isReady = readyPid === undefined || readyPid === holder?.pid;
      const state = holder === undefined ? 'stopped' : isReady ? 'running' : 'starting';
      return {
        kind: 'agent',
        name,
        directory,
        state,
        pid: holder?.pid,
        url,
        version,
      };
    }
    if (!('format' in settings) && !holder) return undefined;
    const { port, bindAddress = '127.0.0.1' } = settings;
    const isReady = holder !== undefined && start?.pid === holder.pid;
    return {
      kind: 'cluster',
      name: own ?? start?.name ?? basename(directory),
      directory,
      state: holder === undefined ? 'stopped' : isReady ? 'running' : 'starting',
      ...(holder ? { pid: holder.pid } : daemons[0] !== undefined && { networkPid: daemons[0] }),
      ...(port !== undefined && { url: serverUrl(bindAddress, port) }),
      ...(start && { version: start.version, nodes: start.nodes }),
    };
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    return {
      kind: 'cluster',
      name: own ?? basename(directory),
      directory,
      state: 'unreadable',
      problem: explain(error),
    };
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

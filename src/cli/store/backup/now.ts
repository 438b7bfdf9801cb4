/** `qd backup now`. */
import { randomUUID } from 'node:crypto';
import { BACKUPS_PATH, type BackupStatus, type RequestedBackup } from '../../../api/backups.ts';
import { UnexpectedCode } from '../../../assembly/control-plane/fetch-json.ts';
import { sleep, systemClock } from '../../../base/time/clock.ts';
import { CliError, explain } from '../../output/cli-error.ts';
import { print } from '../../output/print.ts';
import { findClusterProcess, withCluster } from '../../process/cluster-process.ts';
import { callOwnServer } from '../../process/own-server.ts';
import { requestTarget } from '../../up/store/backups/request.ts';
import { type BackedUpCluster, clusterOf } from './cluster.ts';
import type { NowFlags } from './flags.ts';
import { bytesText } from './text.ts';

/** The program answers at once, and is asked again after this time: soon at first. */
const INTERVALS_MS = [100, 250, 500, 1_000];

type Taken = NonNullable<RequestedBackup['taken']>;

export async function backUpNow(flags: NowFlags): Promise<void> {
  const { name, target, bytes, objects, damaged } = await takeNow(await clusterOf(flags), flags.to);
  print(`${name}: ${objects} objects, ${bytesText(bytes)}, in ${target}`);
  if (damaged > 0)
    throw new CliError(`${damaged} objects cannot be read, and are not in the backup: qd snapshot check`);
}

/** Takes a backup of a cluster, whether it runs or not. */
export async function takeNow(cluster: BackedUpCluster, to: string | undefined): Promise<Taken> {
  return withCluster(cluster.directory, async (pid) => {
    if (pid !== undefined) return askRunning(cluster.directory, pid, to);
    const { takeStopped } = await import('./stopped.ts');
    return takeStopped(cluster, to);
  });
}

async function askRunning(directory: string, pid: number, to: string | undefined): Promise<Taken> {
  const id = randomUUID();
  if (to !== undefined) await requestTarget(directory, { id, to });
  const call = async (path: string, method: 'GET' | 'POST') =>
    (await callOwnServer(directory, path, { method })) as BackupStatus;
  let status = await call(`${BACKUPS_PATH}?id=${id}`, 'POST').catch((cause: unknown) => {
    throw new CliError(`the cluster is running as process ${pid}, and cannot be asked: ${reasonOf(cause)}`, { cause });
  });
  for (let asked = 0; ; asked++) {
    const { request } = status;
    if (request?.id !== id) throw new CliError('another backup was asked for meanwhile; qd backup ls lists all');
    if (request.taken) return request.taken;
    if (request.state !== 'running') throw new CliError(`the backup failed: ${request.message}`);
    await sleep(systemClock, INTERVALS_MS[Math.min(asked, INTERVALS_MS.length - 1)]!);
    status = await call(BACKUPS_PATH, 'GET').catch(async (cause: unknown) => {
      if (await findClusterProcess(directory)) return status;
      throw new CliError('the program that runs the cluster has ended; run qd backup now again', { cause });
    });
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof UnexpectedCode && error.code === 404) {
    return 'it is of a release that takes no backups, or its objects do not outlive it';
  }
  if (error instanceof UnexpectedCode && error.code === 409) return 'a backup that was asked for is being taken';
  return explain(error);
}

import { execFile } from 'node:child_process';
import { readdir, readFile, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Logger } from '../../../base/log.ts';
import { argumentsOf, descendantsOf, killIfRunning, runningPids } from '../../../base/programs/running-processes.ts';
import { type Clock, sleep } from '../../../base/time/clock.ts';
import { openCgroups } from '../../cgroups/cgroups.ts';
import { removeGuards } from '../../interfaces/interface-guard.ts';
import { mountPointsBelow, parseMountInfo } from '../../volumes/host/mount-table.ts';
import { Connection } from '../calls/connection.ts';
import { cri } from '../calls/methods.ts';
import { bridgeIn, bridgeOf } from '../network/cni.ts';
import { guardOptions } from '../network/pod-interfaces.ts';
import { nodeCgroup } from '../pod-cgroups.ts';
import { type DaemonOptions, endDaemon, ensureDaemon, findDaemon } from './daemon.ts';
import { exists, systemPath } from './machine.ts';
import { type OwnPaths, ownPaths } from './paths.ts';

const END_TIMEOUT_MS = 10_000;
const POLL_MS = 25;

export interface StopOptions extends DaemonOptions {
  readonly name: string;
  /** True to make containerd forget the pods; otherwise the next one knows how they ended. */
  readonly removesPods: boolean;
}

/** Reports whether the containerd of a node, or something that it has started, is running. */
export async function isOwnRunning(directory: string): Promise<boolean> {
  const paths = ownPaths(directory);
  return (await findDaemon(paths)) !== undefined || (await shimsOf(paths)).length > 0;
}

/**
 * Ends the containerd of a node with all its pods, if it has one, whether or not it runs, and removes their mounts and their
 * bridge. Images and the root stay.
 */
export async function stopOwnContainerd(options: StopOptions): Promise<void> {
  const { clock, log } = options;
  const paths = ownPaths(options.directory);
  if (!(await exists(paths.root))) return;
  const hasShims = (await shimsOf(paths)).length > 0;
  // Only containerd knows how to free the addresses and ports of a pod: it is started once more for that.
  if (hasShims || (await findDaemon(paths))) {
    await ensureDaemon(options)
      .then(() => stopSandboxes(paths, options))
      .catch((error: unknown) => log.warn('pods could not be removed', { error: String(error) }));
  }
  await endDaemon(paths, clock);
  await removeTraces(paths, options);
}

/**
 * Ends what a containerd runs whose directory was removed, and that has ended itself. Nothing is known any more of its pods but
 * what the machine has of them.
 */
export async function endWithoutDirectory(options: StopOptions): Promise<void> {
  await removeTraces(ownPaths(options.directory), options);
}

async function removeTraces(paths: OwnPaths, options: StopOptions): Promise<void> {
  const { clock, log, path, networkNamespace } = options;
  await killShims(paths, { clock, log });
  await unmountBelow(paths.directory, path);
  openCgroups()?.remove(nodeCgroup(options.name));
  const inNamespace = networkNamespace === undefined ? [] : ['nsenter', `--net=${networkNamespace}`];
  for (const bridge of new Set([bridgeOf(options.name), ...(await bridgesOf(paths))])) {
    for (const pod of await podsOn(bridge, inNamespace, path)) {
      await command([...inNamespace, 'ip', 'link', 'delete', pod.device], path).catch(() => {});
      if (pod.namespace) await command(['ip', 'netns', 'delete', pod.namespace], path).catch(() => {});
    }
    await command([...inNamespace, 'ip', 'link', 'delete', bridge], path).catch(() => {});
  }
  await removeGuards(await guardOptions({ name: options.name, path, networkNamespace })).catch(() => undefined);
  await rm(paths.state, { recursive: true, force: true });
  await rm(paths.socket, { force: true });
  await rm(`${paths.socket}.ttrpc`, { force: true });
}

/** Returns the bridges that its network configurations have made. */
async function bridgesOf({ cniConfiguration }: OwnPaths): Promise<readonly string[]> {
  const files = await readdir(cniConfiguration).catch(() => []);
  return files.map(bridgeIn).filter((bridge) => bridge !== undefined);
}

async function stopSandboxes(paths: OwnPaths, { clock, removesPods }: StopOptions): Promise<void> {
  const connection = new Connection({ socket: paths.socket, clock });
  try {
    const { items } = await connection.call(cri.listSandboxes, {});
    await Promise.all(
      items.map(async ({ id }) => {
        await connection.call(cri.stopSandbox, { id });
        if (removesPods) await connection.call(cri.removeSandbox, { id });
      }),
    );
  } finally {
    connection.close();
  }
}

/** A shim that is left has lost its containerd; its containers end with SIGKILL. */
async function killShims(paths: OwnPaths, { clock, log }: { clock: Clock; log: Logger }): Promise<void> {
  const deadline = clock.now() + END_TIMEOUT_MS;
  for (let shims = await shimsOf(paths); shims.length > 0; shims = await shimsOf(paths)) {
    if (clock.now() > deadline) {
      log.warn('shims of containerd do not end', { pids: shims });
      return;
    }
    for (const pid of [...(await descendantsOf(shims)), ...shims]) killIfRunning(pid);
    await sleep(clock, POLL_MS);
  }
}

/** Shims name the socket of their containerd among their arguments. */
async function shimsOf(paths: OwnPaths): Promise<readonly number[]> {
  const found: number[] = [];
  for (const pid of await runningPids()) {
    const args = await argumentsOf(pid);
    const address = args.indexOf('-address');
    if (args[0]?.includes('containerd-shim') && address > 0 && args[address + 1] === paths.socket) found.push(pid);
  }
  return found;
}

/** Unmounts the remaining mounts, the newest first. */
export async function unmountBelow(directory: string, path: string): Promise<void> {
  const mounts = parseMountInfo(await readFile('/proc/self/mountinfo', 'utf8'));
  const below = mountPointsBelow(mounts, directory).filter((point) => point !== directory);
  for (const point of below) await command(['umount', '-l', point], path).catch(() => {});
}

/** Interfaces of pods that containerd has not removed, and their namespaces as CNI names them. */
async function podsOn(bridge: string, inNamespace: readonly string[], path: string) {
  const listed = [...inNamespace, 'ip', '-o', 'link', 'show', 'master', bridge];
  const lines = (await command(listed, path).catch(() => '')).split('\n');
  return lines.flatMap((line) => {
    const device = /^\d+: ([^:@]+)/.exec(line)?.[1];
    return device === undefined ? [] : [{ device, namespace: /link-netns (cni-[0-9a-f-]+)/.exec(line)?.[1] }];
  });
}

async function command([program = '', ...args]: readonly string[], path: string): Promise<string> {
  return (await promisify(execFile)(program, args, { env: { PATH: systemPath(path) } })).stdout;
}

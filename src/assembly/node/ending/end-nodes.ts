/** Ends what the nodes of a data directory run, and removes what they have made on this machine outside of it. */
import { basename, join } from 'node:path';
import { readIfThere } from '../../../base/files/own/files.ts';
import { processIdentity } from '../../../base/programs/process-identity.ts';
import { STRICT_GUARD } from '../../../base/sockets/dial/dial-guard.ts';
import { sleep } from '../../../base/time/clock.ts';
import type { Tools } from '../../../base/tools.ts';
import { exists } from '../../../node/containerd/own/machine.ts';
import type { Runtime } from '../../../node/runtime/runtime.ts';
import type { VolumesApi } from '../../../node/volumes/api.ts';
import { openVolumes } from '../../../node/volumes/open-volumes.ts';
import { removeServiceRules } from '../network/services.ts';
import { type NodeFile, nodesIn, removeNodeFile } from '../node-file.ts';
import { openRuntime } from '../open-runtime.ts';

export interface EndNodesOptions extends Tools {
  readonly dataDirectory: string;
  /** `stop`: the next start knows how containers have ended, and goes on. `remove`: nothing is left of pods. */
  readonly mode: 'stop' | 'remove';
  /** Which nodes; default: all. */
  readonly only?: (node: string, file: NodeFile) => boolean;
  readonly path: string;
}

/** How long containers may take after their stop signal. */
const GRACE_SECONDS = 10;
const KEEPER_TIMEOUT_MS = 10_000;
const CHECK_MS = 25;

/** Returns how many pods were ended. No other process may run these nodes. */
export async function endNodes(options: EndNodesOptions): Promise<number> {
  const { dataDirectory, log, only, path } = options;
  const all = await nodesIn(dataDirectory);
  const chosen = all.filter(({ directory, file }) => only?.(basename(directory), file) ?? true);
  let ended = 0;
  for (const { directory, file } of chosen) {
    ended += await endPods(options, directory, file).catch((error: unknown) => {
      log.warn('pods could not be ended', { node: basename(directory), error: String(error) });
      return 0;
    });
    await leaveNothing(options, directory, file);
  }
  const hasOthers = all.some((node) => !chosen.includes(node) && node.file.networkNamespace !== undefined);
  if (!hasOthers && chosen.some(({ file }) => file.networkNamespace !== undefined)) {
    const { removeMachineNetwork } = await import('../network/network.ts');
    await removeMachineNetwork(dataDirectory, path);
  }
  return ended;
}

async function endPods(options: EndNodesOptions, directory: string, file: NodeFile): Promise<number> {
  if (file.runtime === 'containerd' && !file.endpoint && !(await mayRun(directory))) return 0;
  const networkNamespace = await existing(file);
  const runtime = await openRuntime({
    ...options,
    ...file,
    directory,
    networkNamespace,
    dialGuard: STRICT_GUARD,
    allowsHostImage: false,
  });
  try {
    return options.mode === 'stop' ? await stopPods(runtime) : await removePods(runtime);
  } finally {
    await runtime.close();
  }
}

/** Nothing runs in a namespace that is gone, after `qd down` or a reboot; its node's records are read without it. */
async function existing({ networkNamespace }: NodeFile): Promise<string | undefined> {
  if (networkNamespace === undefined) return undefined;
  return (await exists(networkNamespace)) ? networkNamespace : undefined;
}

/** An own containerd is not started to end nothing. */
async function mayRun(directory: string): Promise<boolean> {
  const { isOwnRunning } = await import('../../../node/containerd/own/stop.ts');
  const own = join(directory, 'containerd');
  return !(await exists(join(own, 'root'))) || isOwnRunning(own);
}

async function stopPods(runtime: Runtime): Promise<number> {
  const containers = await runtime.containers();
  const running = containers.filter(({ state }) => state === 'running');
  await Promise.all(running.map(({ id }) => runtime.stopContainer(id, GRACE_SECONDS)));
  const ready = (await runtime.sandboxes()).filter(({ isReady }) => isReady);
  await Promise.all(ready.map(({ id }) => runtime.stopSandbox(id)));
  return ready.length;
}

async function removePods(runtime: Runtime): Promise<number> {
  const sandboxes = await runtime.sandboxes();
  for (const { id } of sandboxes) {
    await runtime.stopSandbox(id);
    await runtime.removeSandbox(id);
  }
  return sandboxes.filter(({ isReady }) => isReady).length;
}

async function leaveNothing(options: EndNodesOptions, directory: string, file: NodeFile): Promise<void> {
  const { mode, clock, log, path } = options;
  const { name, networkNamespace } = file;
  const { stopOwnContainerd, unmountBelow } = await import('../../../node/containerd/own/stop.ts');
  switch (file.runtime) {
    case 'containerd':
      await stopOwnContainerd({
        ...file,
        directory: join(directory, 'containerd'),
        clock,
        log,
        path,
        removesPods: mode === 'remove',
      });
      break;
    case 'process':
      await keeperEnded(options, join(directory, 'process'));
  }
  if (mode === 'remove') await releaseVolumes(options, directory);
  // For example volumes in memory; the next start mounts them again.
  await unmountBelow(directory, path);
  await removeServiceRules({ name: basename(directory), shortName: name, networkNamespace }, path);
  if (networkNamespace !== undefined) {
    const { removeNodeNetwork } = await import('../network/network.ts');
    await removeNodeNetwork(networkNamespace, path);
  }
  if (mode === 'remove') await removeNodeFile(directory);
}

/** It ends by itself when nothing runs any more, and takes the bridge, the rules and the cgroups with it. */
export async function keeperEnded(
  { clock, log }: Pick<EndNodesOptions, 'clock' | 'log'>,
  directory: string,
): Promise<void> {
  const pid = Number(await readIfThere(join(directory, 'keeper.pid')));
  if (!pid) return;
  const deadline = clock.now() + KEEPER_TIMEOUT_MS;
  while (await isKeeper(pid, directory)) {
    if (clock.now() > deadline) return log.warn('the keeper of containers does not end', { pid });
    await sleep(clock, CHECK_MS);
  }
}

/** The process id may be that of another program by now. */
async function isKeeper(pid: number, directory: string): Promise<boolean> {
  if ((await processIdentity(pid)).started === '') return false;
  const command = (await readIfThere(`/proc/${pid}/cmdline`)) ?? '';
  return command.split('\0').includes(directory);
}

async function releaseVolumes({ clock, random, log }: EndNodesOptions, directory: string): Promise<void> {
  const volumes = openVolumes({
    clock,
    random,
    log,
    root: directory,
    nodeName: '',
    api: NO_API,
    liveConfigVolumes: false,
    allocatable: () => ({}),
    canMount: process.getuid?.() === 0,
  });
  for (const uid of await volumes.leftovers()) await volumes.release(uid);
}

/** Nothing is read to release volumes. */
const NO_API = {} as VolumesApi;

/** Ends everything that the nodes of a data directory run. */
import { basename, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { VolumesApi } from '../../node/volumes/api.ts';
import { openVolumes } from '../../node/volumes/open-volumes.ts';
import { removeServiceRules } from '../up/components/services.ts';
import { type NodeFile, nodesIn } from './node-file.ts';
import { openRuntime } from './open-runtime.ts';

export interface EndNodesOptions {
  readonly dataDirectory: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly path: string;
}

/** Returns how many pods were ended. The program of the cluster must not run. */
export async function endNodes(options: EndNodesOptions): Promise<number> {
  let ended = 0;
  for (const { directory, file } of await nodesIn(options.dataDirectory)) {
    ended += await endPods(options, directory, file);
    await removeServiceRules(basename(directory), file.name, options.path);
    await releaseVolumes(options, directory);
    if (file.runtime !== 'containerd') continue;
    const { stopOwnContainerd } = await import('../../node/containerd/own/stop.ts');
    const { clock, log, path } = options;
    await stopOwnContainerd({ directory: join(directory, 'containerd'), name: file.name, clock, log, path });
  }
  return ended;
}

async function endPods(options: EndNodesOptions, directory: string, file: NodeFile): Promise<number> {
  const runtime = await openRuntime({ ...options, ...file, directory });
  try {
    const sandboxes = await runtime.sandboxes();
    for (const { id } of sandboxes) {
      await runtime.stopSandbox(id);
      await runtime.removeSandbox(id);
    }
    return sandboxes.length;
  } finally {
    await runtime.close();
  }
}

async function releaseVolumes({ clock, random, log }: EndNodesOptions, directory: string): Promise<void> {
  const volumes = openVolumes({
    ...{ clock, random, log, root: directory, nodeName: '', api: NO_API, liveConfigVolumes: false },
    allocatable: () => ({}),
    canMount: process.getuid?.() === 0,
  });
  for (const uid of await volumes.leftovers()) await volumes.release(uid);
}

/** Nothing is read to release volumes. */
const NO_API = {} as VolumesApi;

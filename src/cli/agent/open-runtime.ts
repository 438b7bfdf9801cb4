/** Opens the runtime of a node. */
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Runtime } from '../../node/runtime/runtime.ts';
import { CliError } from '../output/cli-error.ts';
import { keeperCommand } from '../process/keeper-command.ts';
import { architectureOf } from './machine.ts';

export type RealRuntime = 'containerd' | 'process';

export interface RuntimeRequest {
  readonly runtime: RealRuntime;
  /** A CRI socket; undefined or empty: that of the machine's containerd, or an own one. */
  readonly endpoint: string | undefined;
  /** Where the node has its files. */
  readonly directory: string;
  /** Identifies the node on this machine: it names bridges and tables, and marks what runs. */
  readonly name: string;
  readonly podCIDRs: readonly string[];
  readonly path: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Rejects with a RuntimeError when it cannot be used. */
export async function openRuntime(request: RuntimeRequest): Promise<Runtime> {
  switch (request.runtime) {
    case 'containerd':
      return openContainerdNode(request);
    case 'process':
      return openProcessNode(request);
  }
}

async function openContainerdNode(request: RuntimeRequest): Promise<Runtime> {
  const { endpoint, directory, name, podCIDRs, path, clock, log } = request;
  const { openContainerd } = await import('../../node/containerd/open.ts');
  return openContainerd({
    ...{ directory: join(directory, 'containerd'), name, podCIDRs, path, clock, log },
    endpoint: !endpoint ? 'auto' : { socket: endpoint.replace(/^unix:\/\//, '') },
  });
}

async function openProcessNode(request: RuntimeRequest): Promise<Runtime> {
  const { directory, name, podCIDRs, clock, random, log } = request;
  const keeper = keeperCommand();
  if (!keeper) throw new CliError('--runtime process needs the built program');
  const [{ openProcessRuntime }, { DirectoryImageStore }, { Registry }] = await Promise.all([
    import('../../node/process/process-runtime.ts'),
    import('../../node/images/store/directory-store.ts'),
    import('../../node/images/registry/registry.ts'),
  ]);
  const images = await DirectoryImageStore.open({
    ...{ directory: join(directory, 'images'), clock, log, isRoot: process.getuid?.() === 0 },
    source: new Registry({ mirrors: {}, insecure: [] }),
    platform: { os: 'linux', architecture: architectureOf(process.arch) },
  });
  return openProcessRuntime({
    ...{ directory: join(directory, 'process'), name, podCidr: podCIDRs[0] ?? '', images, keeper, clock, random },
  });
}

/**
 * Ends pods, and what listens for them, of nodes on this machine whose data directory was removed: nobody sees them any more, and their
 * addresses would be given to other pods.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { sharesNamespace } from '../../../base/programs/lost-processes.ts';
import { STRICT_GUARD } from '../../../base/sockets/dial/dial-guard.ts';
import type { Tools } from '../../../base/tools.ts';
import { endLostDaemons } from '../../../network/daemon/running.ts';
import { killLostKeeper, type LostKeeper, lostKeepers } from '../../../node/process/connect/lost-keepers.ts';
import { removeServiceRules } from '../network/services.ts';
import { nodeId, readNodeFile } from '../node-file.ts';
import { openRuntime } from '../open-runtime.ts';
import { keeperEnded } from './end-nodes.ts';

export interface EndLostOptions extends Tools {
  readonly path: string;
  /** Data directory of the caller, for files that are removed again. */
  readonly dataDirectory: string;
}

const NO_REGISTRIES = { mirrors: {}, insecure: [] };

/** A failure is logged: what is left is no reason against a start. */
export async function endLostNodes(options: EndLostOptions): Promise<void> {
  await endAll(options).catch((error: unknown) =>
    options.log.warn('pods of data directories that were removed could not be ended', { error: String(error) }),
  );
}

async function endAll(options: EndLostOptions): Promise<void> {
  const { log } = options;
  const isRoot = process.getuid?.() === 0;
  for (const keeper of await lostKeepers()) {
    log.warn('pods of a data directory that was removed are ended', { directory: keeper.directory });
    const isInNetwork = await sharesNamespace(keeper.pid, 'net').catch(() => false);
    await killLostKeeper(keeper);
    if (!isRoot) continue;
    if (isInNetwork) await removeLeft(options, keeper);
    await leaveNothing(options, dirname(keeper.directory), keeper.name);
  }
  if (isRoot) await endContainerds(options);
  const daemons = await endLostDaemons();
  if (daemons > 0) log.warn('network daemons of data directories that were removed are ended', { count: daemons });
}

/** A keeper of the same name finds containers, cgroups, namespaces and interfaces that it does not know, and removes them. */
async function removeLeft(options: EndLostOptions, { name, podCidr }: LostKeeper): Promise<void> {
  const directory = await mkdtemp(join(options.dataDirectory, '.lost-'));
  try {
    const runtime = await openRuntime({
      ...options,
      runtime: 'process',
      endpoint: undefined,
      directory,
      name,
      podCIDRs: [podCidr],
      registries: NO_REGISTRIES,
      dialGuard: STRICT_GUARD,
      allowsHostImage: false,
    });
    await runtime.close();
    await keeperEnded(options, join(directory, 'process'));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function endContainerds(options: EndLostOptions): Promise<void> {
  const { killLostContainerds } = await import('../../../node/containerd/own/lost.ts');
  const { endWithoutDirectory } = await import('../../../node/containerd/own/stop.ts');
  for (const directory of await killLostContainerds()) {
    options.log.warn('pods of a data directory that was removed are ended', { directory });
    const node = dirname(directory);
    const name = nodeId(dirname(dirname(node)), basename(node));
    await endWithoutDirectory({ ...options, directory, name, removesPods: true });
    await leaveNothing(options, node, name);
  }
}

/** `directory` is that of the node. A node that was made there again keeps what it has. */
async function leaveNothing({ path }: EndLostOptions, directory: string, shortName: string): Promise<void> {
  const { unmountBelow } = await import('../../../node/containerd/own/stop.ts');
  if ((await readNodeFile(directory)) !== undefined) return;
  await unmountBelow(directory, path);
  await removeServiceRules({ name: basename(directory), shortName, networkNamespace: undefined }, path);
}

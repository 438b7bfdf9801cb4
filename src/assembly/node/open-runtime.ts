/** Opens the runtime of a node. */
import { join } from 'node:path';
import type { DialGuard } from '../../base/sockets/dial/dial-guard.ts';
import type { Tools } from '../../base/tools.ts';
import type { DirectoryImageStore } from '../../node/images/store/directory-store.ts';
import type { Runtime } from '../../node/runtime/runtime.ts';
import { AssemblyError } from '../assembly-error.ts';
import { keeperCommand } from '../threads/keeper-command.ts';
import { architectureOf } from './machine.ts';
import type { NodeFile } from './node-file.ts';

export type { RealRuntime } from './node-file.ts';

export interface RuntimeRequest extends Tools, NodeFile {
  /** Where the node has its files. */
  readonly directory: string;
  /** Paths of this machine that pods with its files do not see: data directories of clusters, and kubeconfigs. */
  readonly hidden?: () => Promise<readonly string[]>;
  /** Checks where images lead to. */
  readonly dialGuard: DialGuard;
  /** True when pods may use the file system of the node as their image. */
  readonly allowsHostImage: boolean;
  /** The host name of pods on such a network; undefined: the machine's. */
  readonly hostName?: string | undefined;
  /** True when an agent may use it at the same time: an own containerd that runs is used as it is. */
  readonly isBeside?: boolean;
  readonly path: string;
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
  const { endpoint, directory, log, registries, networkNamespace, isBeside } = request;
  const { openContainerd } = await import('../../node/containerd/open.ts');
  const shared = endpoint
    ? { socket: endpoint.replace(/^unix:\/\//, '') }
    : isBeside
      ? ('existing' as const)
      : ('auto' as const);
  const runtime = await openContainerd({
    ...request,
    directory: join(directory, 'containerd'),
    // Only an own one can have another network.
    endpoint: networkNamespace === undefined || isBeside ? shared : 'own',
  });
  if (!runtime.isOwn && (Object.keys(registries.mirrors).length > 0 || registries.insecure.length > 0)) {
    log.warn('registry mirrors and insecure registries have to be configured in this containerd itself', {
      socket: runtime.socket,
    });
  }
  return runtime;
}

async function openProcessNode(request: RuntimeRequest): Promise<Runtime> {
  const { directory, name, podCIDRs, allowsHostImage, clock, random } = request;
  const keeper = keeperCommand(request);
  if (!keeper) throw new AssemblyError('--runtime process needs the built program');
  const { openProcessRuntime } = await import('../../node/process/process-runtime.ts');
  const images = await openImageStore(request);
  return openProcessRuntime({
    directory: join(directory, 'process'),
    name,
    podCidr: podCIDRs[0] ?? '',
    images,
    keeper,
    clock,
    random,
    hidden: request.hidden ?? (async () => []),
    allowsHostImage,
  });
}

/** The images of a node that runs processes. */
export async function openImageStore(
  request: Pick<RuntimeRequest, 'directory' | 'registries' | 'dialGuard' | 'clock' | 'log'>,
): Promise<DirectoryImageStore> {
  const { directory, registries, dialGuard, clock, log } = request;
  const [{ DirectoryImageStore }, { Registry }] = await Promise.all([
    import('../../node/images/store/directory-store.ts'),
    import('../../node/images/registry/registry.ts'),
  ]);
  return DirectoryImageStore.open({
    directory: join(directory, 'images'),
    clock,
    log,
    isRoot: process.getuid?.() === 0,
    source: new Registry(registries, clock, dialGuard),
    platform: { os: 'linux', architecture: architectureOf(process.arch) },
  });
}

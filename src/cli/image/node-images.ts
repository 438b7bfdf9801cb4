/** Finds the images of the nodes of a cluster. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { silent } from '../../base/log.ts';
import type { Images } from '../../node/runtime/runtime.ts';
import { type ClusterFlags, directoryOf } from '../flags/cluster.ts';
import { CliError } from '../output/cli-error.ts';
import { rememberedIn } from '../up/directory/directory.ts';

export interface NodeImages {
  readonly node: string;
  readonly images: Images;
}

/** Runs `work` with the images of every node. Rejects when the cluster has no node that has images. */
export async function withNodeImages(
  flags: ClusterFlags,
  work: (nodes: readonly NodeImages[]) => Promise<void>,
): Promise<void> {
  const directory = directoryOf(flags);
  if (!(await exists(directory))) {
    throw new CliError(`${directory} does not exist: there is no such cluster; choose one with --name or --data-dir`);
  }
  const settings = (await rememberedIn(directory)) as { readonly containerRuntimeEndpoint?: string };
  const nodes: (NodeImages & { close(): Promise<void> })[] = [];
  try {
    for (const node of (await readdir(join(directory, 'nodes')).catch((): string[] => [])).sort()) {
      const path = join(directory, 'nodes', node);
      if (await exists(join(path, 'images'))) nodes.push({ node, ...(await openStore(join(path, 'images'))) });
      if (await exists(join(path, 'containerd'))) {
        nodes.push({ node, ...(await openFromContainerd(path, node, settings.containerRuntimeEndpoint)) });
      }
    }
    if (nodes.length === 0) {
      throw new CliError(
        `no node of ${directory} has images; start the cluster with --runtime process or --runtime containerd first`,
      );
    }
    await work(nodes);
  } finally {
    await Promise.all(nodes.map((node) => node.close()));
  }
}

async function openStore(directory: string) {
  const [{ DirectoryImageStore }, { Registry }, { platformOf }] = await Promise.all([
    import('../../node/images/store/directory-store.ts'),
    import('../../node/images/registry/registry.ts'),
    import('../../node/images/content/platform.ts'),
  ]);
  const images = await DirectoryImageStore.open({
    directory,
    clock: systemClock,
    log: silent,
    source: new Registry({ mirrors: {}, insecure: [] }),
    platform: platformOf(process.arch),
    isRoot: process.getuid?.() === 0,
  });
  return { images, close: async () => {} };
}

async function openFromContainerd(directory: string, name: string, endpoint: string | undefined) {
  const { openContainerd } = await import('../../node/containerd/open.ts');
  const runtime = await openContainerd({
    endpoint: !endpoint ? 'existing' : { socket: endpoint.replace(/^unix:\/\//, '') },
    directory: join(directory, 'containerd'),
    name,
    podCIDRs: [],
    path: process.env.PATH ?? '',
    clock: systemClock,
    log: silent,
  });
  return { images: runtime.images, close: () => runtime.close() };
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

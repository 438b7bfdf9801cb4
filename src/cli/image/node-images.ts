/** Finds the images of the nodes of a cluster. */
import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { machineGuard } from '../../assembly/machine-guard.ts';
import { type NodeFile, nodesIn } from '../../assembly/node/node-file.ts';
import { openImageStore, openRuntime } from '../../assembly/node/open-runtime.ts';
import { silent } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { systemClock } from '../../base/time/clock.ts';
import type { Images } from '../../node/runtime/runtime.ts';
import { directoryOf } from '../clusters/choice.ts';
import type { ClusterFlags } from '../flags/cluster.ts';
import { CliError } from '../output/cli-error.ts';

export interface NodeImages {
  readonly node: string;
  readonly images: Images;
}

interface OpenImages {
  readonly images: Images;
  close(): Promise<void>;
}

const TOOLS = { clock: systemClock, random: systemRandom, log: silent, dialGuard: machineGuard({}) };

/** Runs `work` with the images of every node. Rejects when the cluster has no node that has images. */
export async function withNodeImages(
  flags: ClusterFlags,
  work: (nodes: readonly NodeImages[]) => Promise<void>,
): Promise<void> {
  const dataDirectory = await directoryOf(flags);
  if (!(await exists(dataDirectory))) {
    throw new CliError(
      `${dataDirectory} does not exist: there is no such cluster; choose one with --name or --data-dir`,
    );
  }
  if (!(await stat(dataDirectory)).isDirectory()) {
    throw new CliError(`${dataDirectory} is not a directory; choose another with --data-dir`);
  }
  const nodes: (NodeImages & OpenImages)[] = [];
  try {
    for (const { directory, file } of await nodesIn(dataDirectory)) {
      nodes.push({ node: basename(directory), ...(await openImages(directory, file)) });
    }
    if (nodes.length === 0) {
      throw new CliError(
        `no node of ${dataDirectory} has images; start the cluster with --runtime process or --runtime containerd first`,
      );
    }
    nodes.sort((a, b) => a.node.localeCompare(b.node, 'en', { numeric: true }));
    await work(nodes);
  } finally {
    await Promise.all(nodes.map((node) => node.close()));
  }
}

async function openImages(directory: string, file: NodeFile): Promise<OpenImages> {
  switch (file.runtime) {
    case 'process':
      return { images: await openImageStore({ ...TOOLS, ...file, directory }), close: async () => {} };
    case 'containerd':
      return openFromContainerd(directory, file);
  }
}

/** An own containerd that does not run is started for this, and stopped again. */
async function openFromContainerd(directory: string, file: NodeFile): Promise<OpenImages> {
  const { isOwnRunning, stopOwnContainerd } = await import('../../node/containerd/own/stop.ts');
  const own = join(directory, 'containerd');
  const isOwn = await exists(join(own, 'root'));
  const wasRunning = !isOwn || (await isOwnRunning(own));
  const path = process.env.PATH ?? '';
  // A cluster that was stopped has no namespaces, which images do not need.
  const hasNamespace = file.networkNamespace !== undefined && (await exists(file.networkNamespace));
  const { networkNamespace } = hasNamespace ? file : { networkNamespace: undefined };
  const runtime = await openRuntime({
    ...TOOLS,
    ...file,
    networkNamespace,
    podCIDRs: [],
    directory,
    path,
    isBeside: true,
    allowsHostImage: false,
  });
  return {
    images: runtime.images,
    async close() {
      await runtime.close();
      if (wasRunning) return;
      const { name, streamAddress } = file;
      await stopOwnContainerd({
        ...TOOLS,
        directory: own,
        name,
        path,
        removesPods: false,
        registries: file.registries,
        streamAddress,
      });
    },
  };
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

/** Measures a pod's data on its node outside of its containers' layers. */
import { join } from 'node:path';
import { TreeTooDeepError } from '../../base/files/inside/errors.ts';
import { treeBytes } from '../../base/files/inside/tree-bytes.ts';
import type { Layout } from './host/layout.ts';
import { namesIn } from './host/names-in.ts';
import type { PodUsage } from './volumes.ts';

/** Volumes that hold nothing of the pod itself are not counted: others, or other machines, have them. */
const COUNTED = ['empty-dir', 'configmap', 'secret', 'downward-api', 'projected'];

/** Files that vanish meanwhile are not counted. */
export async function podUsage(layout: Layout, uid: string): Promise<PodUsage> {
  const volumes = new Map<string, number>();
  for (const kind of COUNTED) {
    for (const volumesOf of [layout.volumes(uid), layout.memoryVolumes(uid)]) {
      const parent = join(volumesOf, `kubernetes.io~${kind}`);
      for (const name of await namesIn(parent)) volumes.set(name, await bytesIn(join(parent, name)));
    }
  }
  const messages = layout.terminationMessages(uid);
  const containers = new Map<string, number>();
  for (const name of await namesIn(messages)) containers.set(name, await bytesIn(join(messages, name)));
  return { volumes, shared: await bytesIn(layout.hosts(uid)), containers };
}

/** Counts bytes. A pod that nests directories so deep that they cannot be counted does so to hide their content. */
async function bytesIn(path: string): Promise<number> {
  return treeBytes(path).catch((error: unknown) => {
    if (error instanceof TreeTooDeepError) return Number.MAX_SAFE_INTEGER;
    throw error;
  });
}

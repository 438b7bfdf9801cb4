/** What the volumes of a pod take on disk. */
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Layout } from './host/layout.ts';
import { namesIn } from './host/names-in.ts';

/** Volumes that hold nothing of the pod itself are not counted: others, or other machines, have them. */
const COUNTED = ['empty-dir', 'configmap', 'secret', 'downward-api', 'projected'];
const BLOCK_BYTES = 512;

/** Bytes by volume name. Files that vanish meanwhile are not counted. */
export async function volumeUsage(layout: Layout, uid: string): Promise<Map<string, number>> {
  const usage = new Map<string, number>();
  for (const kind of COUNTED) {
    const parent = join(layout.volumes(uid), `kubernetes.io~${kind}`);
    for (const name of await namesIn(parent)) usage.set(name, await sizeOf(join(parent, name)));
  }
  return usage;
}

/** Other file systems below it are not counted. Hard links count once. */
async function sizeOf(root: string): Promise<number> {
  const device = (await lstat(root).catch(() => undefined))?.dev;
  const linked = new Set<number>();
  let bytes = 0;
  const pending = [root];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const stats = await lstat(path).catch(() => undefined);
    if (!stats || stats.dev !== device) continue;
    if (stats.nlink > 1 && !stats.isDirectory()) {
      if (linked.has(stats.ino)) continue;
      linked.add(stats.ino);
    }
    bytes += stats.blocks * BLOCK_BYTES;
    if (!stats.isDirectory()) continue;
    const entries = await opendir(path).catch(() => undefined);
    // Not all at once: a container may have made millions.
    for await (const { name } of entries ?? []) pending.push(join(path, name));
  }
  return bytes;
}

/** Gives the files of a volume to the pod's `fsGroup`. */
import type { Stats } from 'node:fs';
import { chmod, lchown, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SeenPod } from '../../pod/container-run.ts';

const READ_WRITE = 0o660;
const READ_ONLY = 0o440;
const ENTER = 0o110;
const SET_GROUP_ID = 0o2000;

export interface OwnershipOptions {
  readonly readOnly: boolean;
  /** Whether `OnRootMismatch` may spare the walk; only for volumes that outlive pods. */
  readonly honorsPolicy: boolean;
}

/**
 * Changes the group of everything in the volume, and lets it read, and write unless the volume is read-only. What cannot be
 * changed stays as it is, as with kubelet: without root, most groups cannot be set.
 */
export async function applyFsGroup(directory: string, pod: SeenPod, options: OwnershipOptions): Promise<void> {
  const context = pod.spec.securityContext;
  const group = context?.fsGroup;
  if (group === undefined) return;
  const root = await lstat(directory);
  const maySkip = options.honorsPolicy && context?.fsGroupChangePolicy === 'OnRootMismatch';
  if (maySkip && matches(root, group, options.readOnly)) return;
  await walk(directory, root, group, options.readOnly);
}

function matches(root: Stats, group: number, readOnly: boolean): boolean {
  const wanted = (readOnly ? READ_ONLY : READ_WRITE) | ENTER | SET_GROUP_ID;
  return root.isDirectory() && root.gid === group && (root.mode & wanted) === wanted;
}

/** The root comes last, so that it matches only when all of it was done. */
async function walk(path: string, stats: Stats, group: number, readOnly: boolean): Promise<void> {
  if (stats.isDirectory()) {
    for (const name of await readdir(path)) {
      const child = join(path, name);
      await walk(child, await lstat(child), group, readOnly);
    }
  }
  await lchown(path, stats.uid, group).catch(ignoreDenied);
  // The mode of a link is that of its target.
  if (stats.isSymbolicLink()) return;
  const access = readOnly ? READ_ONLY : READ_WRITE;
  const mode = (stats.mode & 0o7777) | access | (stats.isDirectory() ? ENTER | SET_GROUP_ID : 0);
  await chmod(path, mode).catch(ignoreDenied);
}

function ignoreDenied(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPERM' && error.code !== 'EROFS') throw error;
}

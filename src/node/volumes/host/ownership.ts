/** Gives the files of a volume to the pod's `fsGroup`. */
import type { Stats } from 'node:fs';
import { chmod, chown, type FileHandle, lchown, lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SeenPod } from '../../pod/container-run.ts';
import { VolumeError } from '../volumes.ts';
import { descriptorPath, openReference } from './safe-path.ts';

const READ_WRITE = 0o660;
const READ_ONLY = 0o440;
const ENTER = 0o110;
const SET_GROUP_ID = 0o2000;
/** Each level keeps two files open. */
const MAX_DEPTH = 500;

export interface OwnershipOptions {
  readonly readOnly: boolean;
  /** Whether `OnRootMismatch` may spare the walk; only for volumes that outlive pods. */
  readonly honorsPolicy: boolean;
}

/**
 * Changes the group of everything in the volume, and lets it read, and write unless the volume is read-only. What cannot be
 * changed stays as it is, as with kubelet: without root, most groups cannot be set. Other pods may use the volume, and exchange
 * a directory for a link to one of the node at any time: only what is open is changed.
 */
export async function applyFsGroup(directory: string, pod: SeenPod, options: OwnershipOptions): Promise<void> {
  const context = pod.spec.securityContext;
  const group = context?.fsGroup;
  if (group === undefined) return;
  const root = await lstat(directory);
  const maySkip = options.honorsPolicy && context?.fsGroupChangePolicy === 'OnRootMismatch';
  if (maySkip && matches(root, group, options.readOnly)) return;
  await walk(directory, { group, readOnly: options.readOnly, depth: 0 });
}

interface Wanted {
  readonly group: number;
  readonly readOnly: boolean;
  readonly depth: number;
}

function matches(root: Stats, group: number, readOnly: boolean): boolean {
  const wanted = (readOnly ? READ_ONLY : READ_WRITE) | ENTER | SET_GROUP_ID;
  return root.isDirectory() && root.gid === group && (root.mode & wanted) === wanted;
}

/** `path` is in a directory that is open. The root comes last, so that it matches only when all of it was done. */
async function walk(path: string, wanted: Wanted): Promise<void> {
  if (wanted.depth > MAX_DEPTH) throw new VolumeError(`directories are nested more than ${MAX_DEPTH} levels deep`);
  const handle = await openReference(path).catch(ignoreMissing);
  if (!handle) return;
  try {
    const stats = await handle.stat();
    if (stats.isSymbolicLink()) await lchown(path, stats.uid, wanted.group).catch(ignoreDenied);
    else await change(handle, stats, wanted);
  } finally {
    await handle.close();
  }
}

async function change(handle: FileHandle, stats: Stats, wanted: Wanted): Promise<void> {
  const { group, readOnly, depth } = wanted;
  const own = descriptorPath(handle);
  if (stats.isDirectory()) {
    for await (const { name } of await opendir(own)) {
      await walk(join(own, name), { ...wanted, depth: depth + 1 });
    }
  }
  await chown(own, stats.uid, group).catch(ignoreDenied);
  const access = readOnly ? READ_ONLY : READ_WRITE;
  const mode = (stats.mode & 0o7777) | access | (stats.isDirectory() ? ENTER | SET_GROUP_ID : 0);
  await chmod(own, mode).catch(ignoreDenied);
}

/** Others may remove it meanwhile. */
function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

function ignoreDenied(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPERM' && error.code !== 'EROFS' && error.code !== 'ENOENT') throw error;
}

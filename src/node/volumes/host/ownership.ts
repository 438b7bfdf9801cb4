/** Gives the files of a volume to the pod's `fsGroup`. */
import { changeTree } from '../../../base/files/inside/change-tree.ts';
import { TreeTooDeepError } from '../../../base/files/inside/errors.ts';
import { type Stats, stat } from '../../../base/files/own/own-files.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import { VolumeError } from '../volumes.ts';
import { type HostIds, hostGroup } from './host-ids.ts';

const READ_WRITE = 0o660;
const READ_ONLY = 0o440;
const ENTER = 0o110;
const SET_GROUP_ID = 0o2000;

export interface OwnershipOptions {
  readonly readOnly: boolean;
  /** True when `OnRootMismatch` may spare the walk; only for volumes that outlive pods. */
  readonly honorsPolicy: boolean;
  readonly ids: HostIds | undefined;
}

/**
 * Changes the group of everything in the volume, and lets it read, and write unless the volume is read-only. Files that
 * cannot be changed stay as they are, as with kubelet: without root, most groups cannot be set.
 */
export async function applyFsGroup(directory: string, pod: SeenPod, options: OwnershipOptions): Promise<void> {
  const context = pod.spec.securityContext;
  if (context?.fsGroup === undefined) return;
  const group = hostGroup(options.ids, context.fsGroup);
  const { readOnly } = options;
  const maySkip = options.honorsPolicy && context.fsGroupChangePolicy === 'OnRootMismatch';
  if (maySkip && matches(await stat(directory), group, readOnly)) return;
  const access = readOnly ? READ_ONLY : READ_WRITE;
  const modeOf = (found: Stats) => (found.mode & 0o7777) | access | (found.isDirectory() ? ENTER | SET_GROUP_ID : 0);
  try {
    await changeTree(directory, (found) => ({ uid: found.uid, gid: group, mode: modeOf(found) }));
  } catch (error) {
    if (!(error instanceof TreeTooDeepError)) throw error;
    throw new VolumeError(error.message, { cause: error });
  }
}

function matches(root: Stats, group: number, readOnly: boolean): boolean {
  const wanted = (readOnly ? READ_ONLY : READ_WRITE) | ENTER | SET_GROUP_ID;
  return root.isDirectory() && root.gid === group && (root.mode & wanted) === wanted;
}

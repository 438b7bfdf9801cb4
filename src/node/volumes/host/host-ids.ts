/** Ids on this node of a pod with its own user namespace. */
import { VolumeError } from '../volumes.ts';

/** Ids from 0 to `length` in the pod are those from the bases on the node. */
export interface HostIds {
  readonly uidBase: number;
  readonly gidBase: number;
  readonly length: number;
}

/** Returns the user on the node. Without ids, the pod has those of the node. */
export function hostUser(ids: HostIds | undefined, uid: number): number {
  return ids ? ids.uidBase + inRange(ids, uid, 'user') : uid;
}

export function hostGroup(ids: HostIds | undefined, gid: number): number {
  return ids ? ids.gidBase + inRange(ids, gid, 'group') : gid;
}

/** The pod's root. */
export function rootOf(ids: HostIds): { readonly uid: number; readonly gid: number } {
  return { uid: ids.uidBase, gid: ids.gidBase };
}

function inRange({ length }: HostIds, id: number, what: string): number {
  if (id < length) return id;
  throw new VolumeError(`the pod has no ${what} ${id}: its user namespace ends with ${length - 1}`);
}

/** Agreement between the attach controller and node agents about volumes of CSI drivers that are attached to nodes. */
import { createHash } from 'node:crypto';

export interface AttachableVolume {
  readonly driver: string;
  readonly volumeHandle: string;
}

/** The name of the VolumeAttachment of a volume and a node. */
export function attachmentName({ driver, volumeHandle }: AttachableVolume, nodeName: string): string {
  return `csi-${createHash('sha256').update(`${volumeHandle}${driver}${nodeName}`).digest('hex')}`;
}

/** Returns the name of a volume in the node's `volumesInUse` and `volumesAttached`. */
export const uniqueVolumeName = ({ driver, volumeHandle }: AttachableVolume): string =>
  `kubernetes.io/csi/${driver}^${volumeHandle}`;

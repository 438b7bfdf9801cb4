/** Lists the CSI volumes that must be attached to a node for its pods. */
import type { DeepReadonly } from '../../../api/object-types.ts';
import type { SeenPod } from '../../../api/seen-objects.ts';
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { CSIDriver } from '../../../kinds/groups/storage/csi-driver.ts';
import type { VolumeAttachment } from '../../../kinds/groups/storage/volume-attachment.ts';
import { attachmentName } from '../../../kinds/volumes/attachment.ts';
import type { Listers } from '../../loop/define.ts';
import { podsByClaim } from '../../shared/pods/pods-by-claim.ts';
import { podsByNode } from '../../shared/pods/pods-by-node.ts';

export type Volume = DeepReadonly<PersistentVolume>;
export type Attachment = DeepReadonly<VolumeAttachment>;
type CsiSource = NonNullable<Volume['spec']['csi']>;

export interface WantedAttachment {
  readonly name: string;
  readonly volume: Volume;
  readonly csi: CsiSource;
  /** Pods that wait for the volume or use it. */
  readonly pods: readonly SeenPod[];
}

/** Returns wanted attachments by the name of the VolumeAttachment. */
export function wantedAttachments(nodeName: string, { of }: Listers): Map<string, WantedAttachment> {
  const wanted = new Map<string, WantedAttachment>();
  for (const pod of of(Pod).by(podsByNode, nodeName)) {
    if (pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed') continue;
    for (const key of podsByClaim(pod)) {
      const volume = volumeOf(key, { of });
      const csi = volume?.spec.csi;
      if (!csi || !isAttachable(csi, { of })) continue;
      const name = attachmentName(csi, nodeName);
      wanted.set(name, { name, volume, csi, pods: [...(wanted.get(name)?.pods ?? []), pod] });
    }
  }
  return wanted;
}

/** The volume of a bound claim, `namespace/name`. Both must name each other. */
function volumeOf(key: string, { of }: Listers): Volume | undefined {
  const [namespace = '', name = ''] = key.split('/');
  const claim = of(PersistentVolumeClaim).get(name, namespace);
  const volume = claim?.spec.volumeName ? of(PersistentVolume).get(claim.spec.volumeName) : undefined;
  return volume?.spec.claimRef?.uid === claim?.metadata.uid ? volume : undefined;
}

/** Reports whether volumes are attached, which is the default without a CSIDriver. */
const isAttachable = ({ driver }: CsiSource, { of }: Listers): boolean =>
  of(CSIDriver).get(driver)?.spec.attachRequired !== false;

/** An index: attachments by the name of their node. */
export const attachmentsByNode = ({ spec }: Attachment): readonly string[] => [spec.nodeName];

/** An index: attachments by the name of their PersistentVolume. */
export const attachmentsByVolume = ({ spec }: Attachment): readonly string[] =>
  spec.source.persistentVolumeName ? [spec.source.persistentVolumeName] : [];

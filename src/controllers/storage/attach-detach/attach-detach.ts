/** Attaches volumes of CSI drivers to the nodes whose pods use them, through VolumeAttachments. */
import type { SeenPod } from '../../../api/seen-objects.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import { keyOf } from '../../../client/informer/object-cache.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { CSIDriver } from '../../../kinds/groups/storage/csi-driver.ts';
import { VolumeAttachment } from '../../../kinds/groups/storage/volume-attachment.ts';
import { type Controller, defineController, type Listers, related } from '../../loop/define.ts';
import { podsByClaim } from '../../shared/pods/pods-by-claim.ts';
import { planNode } from './plan-node.ts';
import { type Attachment, attachmentsByNode, type Volume } from './wanted.ts';

/** Keys are the names of nodes. Nodes without volumes of claims or attachments are never planned for. */
export const attachDetachController: Controller = defineController({
  name: 'attachdetach',
  account: 'attachdetach-controller',
  also: [
    related(
      Pod,
      nodesOfPod,
      (pod, old) => pod.spec.nodeName === old.spec.nodeName && pod.status.phase === old.status.phase,
    ),
    related(PersistentVolumeClaim, (claim, listers) => nodesOfClaim(keyOf(claim), listers)),
    related(PersistentVolume, nodesOfVolume),
    related(VolumeAttachment, nodesOfAttachment),
    related(
      Node,
      ({ metadata: { name = '' } }, { of }) => (of(VolumeAttachment).by(attachmentsByNode, name).length ? [name] : []),
      (node, old) =>
        deepEqual(node.status.volumesInUse, old.status.volumesInUse) &&
        deepEqual(node.status.volumesAttached, old.status.volumesAttached) &&
        deepEqual(node.spec?.taints, old.spec?.taints) &&
        readyStatus(node) === readyStatus(old),
    ),
    related(CSIDriver, ({ metadata }, listers) =>
      listers
        .of(PersistentVolume)
        .list()
        .filter(({ spec }) => spec.csi?.driver === metadata.name)
        .flatMap((volume) => nodesOfVolume(volume, listers)),
    ),
  ],
  plan: (_, { key, of }, now) => planNode(key.name, { of }, now),
});

const readyStatus = ({
  status,
}: {
  readonly status: { readonly conditions?: readonly { type: string; status: string }[] };
}) => status.conditions?.find(({ type }) => type === 'Ready')?.status;

function nodesOfPod(pod: SeenPod): readonly string[] {
  return pod.spec.nodeName && podsByClaim(pod).length > 0 ? [pod.spec.nodeName] : [];
}

function nodesOfClaim(key: string, { of }: Listers): readonly string[] {
  return of(Pod).by(podsByClaim, key).flatMap(nodesOfPod);
}

function nodesOfVolume({ spec }: Volume, listers: Listers): readonly string[] {
  const { namespace, name } = spec.claimRef ?? {};
  return spec.csi && name ? nodesOfClaim(`${namespace}/${name}`, listers) : [];
}

/** Returns the nodes of an attachment: its own, and those that may wait for the volume. */
function nodesOfAttachment({ spec }: Attachment, listers: Listers): readonly string[] {
  const volume = listers.of(PersistentVolume).get(spec.source.persistentVolumeName ?? '');
  return [...new Set([spec.nodeName, ...(volume ? nodesOfVolume(volume, listers) : [])])];
}

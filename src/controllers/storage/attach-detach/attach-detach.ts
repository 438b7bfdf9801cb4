/** Attaches volumes of CSI drivers to the nodes whose pods use them, through VolumeAttachments. */

import type { DeepReadonly, Draft } from '../../../api/object-types.ts';
import type { SeenNode, SeenPod } from '../../../api/seen-objects.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import { keyOf } from '../../../client/informer/object-cache.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { CSIDriver } from '../../../kinds/groups/storage/csi-driver.ts';
import { VolumeAttachment } from '../../../kinds/groups/storage/volume-attachment.ts';
import { attachmentName, uniqueVolumeName } from '../../../kinds/volumes/attachment.ts';
import { type Controller, defineController, type Listers, related } from '../../loop/define.ts';
import { type Action, create, event, type Plan, patchStatus, remove, requeueAfter } from '../../loop/plan.ts';
import { conditionOf } from '../../shared/conditions.ts';
import { podsByClaim, podsByNode } from '../../shared/pods/pod-indexes.ts';
import { isTerminal } from '../../shared/pods/pod-life.ts';

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
        conditionOf(node, 'Ready')?.status === conditionOf(old, 'Ready')?.status,
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

const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';
/** Time after which a node that is not ready is considered dead, and volumes that it reported in use are detached. */
const MAX_UNMOUNT_WAIT_MS = 6 * 60_000;
/** A volume that another node has is looked at again after that, at the latest. */
const MULTI_ATTACH_RETRY_MS = 60_000;
/** Names of attachments that a controller has created. */
const OWN_NAME = /^csi-[0-9a-f]{64}$/;

export function planNode(nodeName: string, world: Listers, now: Date): Plan {
  const node = world.of(Node).get(nodeName);
  const wanted = wantedAttachments(nodeName, world);
  const present = world.of(VolumeAttachment).by(attachmentsByNode, nodeName);
  return [
    ...(node ? [...wanted.values()].flatMap((each) => attach(each, nodeName, world)) : []),
    ...present
      .filter((each) => !wanted.has(each.metadata.name ?? '') && isOurs(each, world))
      .flatMap((each) => detach(each, node, world, now)),
    ...(node ? reportAttached(node, present, wanted, world) : []),
  ];
}

function attach({ name, volume, csi, pods }: WantedAttachment, nodeName: string, { of }: Listers): Plan {
  const { name: persistentVolumeName = '' } = volume.metadata;
  const present = of(VolumeAttachment).get(name);
  if (present) {
    const error = present.status?.attachError?.message;
    if (present.status?.attached || !error) return [];
    const message = `AttachVolume.Attach failed for volume "${persistentVolumeName}" : ${error}`;
    return pods.map((pod) => event(pod, 'Warning', 'FailedAttachVolume', message));
  }
  const others = of(VolumeAttachment)
    .by(attachmentsByVolume, persistentVolumeName)
    .filter(({ spec }) => spec.nodeName !== nodeName);
  if (others.length > 0 && isExclusive(volume)) {
    const message = `Multi-Attach error for volume "${persistentVolumeName}" Volume is already exclusively attached to one node and can't be attached to another`;
    return [
      ...pods.map((pod) => event(pod, 'Warning', 'FailedAttachVolume', message)),
      requeueAfter(MULTI_ATTACH_RETRY_MS),
    ];
  }
  const attachment = {
    metadata: { name },
    spec: { attacher: csi.driver, nodeName, source: { persistentVolumeName } },
  };
  return [create(VolumeAttachment, attachment as Draft<VolumeAttachment>)];
}

/** Reports whether only one node may use the volume at a time. */
const isExclusive = ({ spec }: Volume): boolean =>
  !spec.accessModes?.some((mode) => mode === 'ReadWriteMany' || mode === 'ReadOnlyMany');

/** Attachments of others, for example those that were created by hand, have other names. */
function isOurs({ metadata, spec }: Attachment, { of }: Listers): boolean {
  const { name = '' } = metadata;
  if (!OWN_NAME.test(name)) return false;
  const csi = of(PersistentVolume).get(spec.source.persistentVolumeName ?? '')?.spec.csi;
  return !csi || attachmentName(csi, spec.nodeName) === name;
}

function detach(attachment: Attachment, node: SeenNode | undefined, world: Listers, now: Date): Plan {
  if (attachment.metadata.deletionTimestamp) return [];
  const name = volumeName(attachment, world);
  const isUsed = name === undefined || (node?.status.volumesInUse?.includes(name) ?? false);
  if (!node || !isUsed || isOutOfService(node)) return [remove(VolumeAttachment, attachment)];
  const ready = conditionOf(node, 'Ready');
  if (!ready || ready.status === 'True') return [];
  const left = Date.parse(ready.lastTransitionTime ?? '') + MAX_UNMOUNT_WAIT_MS - now.getTime();
  return left > 0 ? [requeueAfter(left)] : [remove(VolumeAttachment, attachment)];
}

const isOutOfService = ({ spec }: SeenNode): boolean =>
  spec?.taints?.some(({ key, effect }) => key === OUT_OF_SERVICE && effect === 'NoExecute') ?? false;

/** Returns the volume's name in the node's status; undefined when it is no longer known. */
function volumeName({ spec }: Attachment, { of }: Listers): string | undefined {
  const csi = of(PersistentVolume).get(spec.source.persistentVolumeName ?? '')?.spec.csi;
  return csi && uniqueVolumeName(csi);
}

/** Keeps the list in the node's status, by which it is known which volumes have just been attached. */
function reportAttached(
  node: SeenNode,
  present: readonly Attachment[],
  wanted: ReadonlyMap<string, WantedAttachment>,
  world: Listers,
): Plan {
  const before = (node.status.volumesAttached ?? []).map(({ name }) => name);
  const attached = present.filter((each) => each.status?.attached && isOurs(each, world));
  const names = attached.flatMap((each) => volumeName(each, world) ?? []).sort();
  if (names.length === before.length && names.every((name, index) => name === before[index])) return [];
  const events = attached.flatMap((each): Action[] => {
    const { volume, pods = [] } = wanted.get(each.metadata.name ?? '') ?? {};
    if (!volume || before.includes(volumeName(each, world) ?? '')) return [];
    const message = `AttachVolume.Attach succeeded for volume "${volume.metadata.name}" `;
    return pods.map((pod) => event(pod, 'Normal', 'SuccessfulAttachVolume', message));
  });
  const volumesAttached = names.map((name) => ({ name, devicePath: '' }));
  const changes = { status: { volumesAttached: volumesAttached.length > 0 ? volumesAttached : null } };
  return [patchStatus(Node, node, { type: 'merge', changes }), ...events];
}

type Volume = DeepReadonly<PersistentVolume>;
type Attachment = DeepReadonly<VolumeAttachment>;
type CsiSource = NonNullable<Volume['spec']['csi']>;

interface WantedAttachment {
  readonly name: string;
  readonly volume: Volume;
  readonly csi: CsiSource;
  /** Pods that wait for the volume or use it. */
  readonly pods: readonly SeenPod[];
}

/** Returns wanted attachments by the name of the VolumeAttachment. */
function wantedAttachments(nodeName: string, { of }: Listers): Map<string, WantedAttachment> {
  const wanted = new Map<string, WantedAttachment>();
  for (const pod of of(Pod).by(podsByNode, nodeName)) {
    if (isTerminal(pod)) continue;
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
const attachmentsByNode = ({ spec }: Attachment): readonly string[] => [spec.nodeName];

/** An index: attachments by the name of their PersistentVolume. */
const attachmentsByVolume = ({ spec }: Attachment): readonly string[] =>
  spec.source.persistentVolumeName ? [spec.source.persistentVolumeName] : [];

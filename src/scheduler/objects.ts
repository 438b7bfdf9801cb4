/** The objects that scheduling reads, as informers return them. */
import type { DeepReadonly } from '../api/object-types.ts';
import type { Namespace as NamespaceKind } from '../kinds/groups/core/namespace.ts';
import type { Node as NodeKind } from '../kinds/groups/core/node/node.ts';
import type { PersistentVolume as VolumeKind } from '../kinds/groups/core/persistent-volume/persistent-volume.ts';
import type { PersistentVolumeClaim as ClaimKind } from '../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import type { Pod as PodKind } from '../kinds/groups/core/pod/pod.ts';
import type { PodDisruptionBudget as BudgetKind } from '../kinds/groups/policy/pod-disruption-budget.ts';
import type { CSIDriver as DriverKind } from '../kinds/groups/storage/csi-driver.ts';
import type { CSINode as CSINodeKind } from '../kinds/groups/storage/csi-node.ts';
import type { CSIStorageCapacity as CapacityKind } from '../kinds/groups/storage/csi-storage-capacity.ts';
import type { StorageClass as StorageClassKind } from '../kinds/groups/storage/storage-class.ts';
import type { VolumeAttachment as AttachmentKind } from '../kinds/groups/storage/volume-attachment.ts';

export type Pod = DeepReadonly<PodKind>;
export type Node = DeepReadonly<NodeKind>;
export type Namespace = DeepReadonly<NamespaceKind>;
export type Claim = DeepReadonly<ClaimKind>;
export type Volume = DeepReadonly<VolumeKind>;
export type StorageClass = DeepReadonly<StorageClassKind>;
export type CSINode = DeepReadonly<CSINodeKind>;
export type CSIDriver = DeepReadonly<DriverKind>;
export type CSIStorageCapacity = DeepReadonly<CapacityKind>;
export type VolumeAttachment = DeepReadonly<AttachmentKind>;
export type Budget = DeepReadonly<BudgetKind>;

export type Taint = NonNullable<Node['spec']['taints']>[number];
export type Labels = Readonly<Record<string, string>>;

export const NO_LABELS: Labels = Object.freeze(Object.create(null));
export const NO_TAINTS: readonly Taint[] = Object.freeze([]);

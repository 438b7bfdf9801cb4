/** Cluster events that may make an unschedulable pod schedulable. */
import type {
  Claim,
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  Node,
  Pod,
  StorageClass,
  Volume,
  VolumeAttachment,
} from '../objects.ts';

interface Objects {
  /** Pods that are on a node or nominated to one; and every update of the waiting pod itself. */
  readonly Pod: Pod;
  /** Nodes with a changed field that scheduling reads. */
  readonly Node: Node;
  readonly PersistentVolumeClaim: Claim;
  readonly PersistentVolume: Volume;
  readonly StorageClass: StorageClass;
  readonly CSINode: CSINode;
  readonly CSIDriver: CSIDriver;
  readonly CSIStorageCapacity: CSIStorageCapacity;
  readonly VolumeAttachment: VolumeAttachment;
}

export type Resource = keyof Objects;

export type EventOf<R extends Resource> =
  | { readonly resource: R; readonly type: 'add'; readonly object: Objects[R]; readonly old?: undefined }
  | { readonly resource: R; readonly type: 'update'; readonly object: Objects[R]; readonly old: Objects[R] }
  | { readonly resource: R; readonly type: 'delete'; readonly object: Objects[R]; readonly old?: undefined };

export type ClusterEvent = { [R in Resource]: EventOf<R> }[Resource];

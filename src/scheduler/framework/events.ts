/** What happens in the cluster and may help a pod that did not fit. */
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
  /** Pods that are on a node or wait for one to be cleared; and every update of the pod itself that is asked about. */
  readonly Pod: Pod;
  /** Only when something changes that scheduling looks at. */
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

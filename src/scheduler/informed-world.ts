/** The scheduler's view of the cluster, fed by informers. */
import type { InformerFactory } from '../client/informer/informer-factory.ts';
import { Namespace } from '../kinds/groups/core/namespace.ts';
import { PersistentVolume } from '../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { CSIDriver } from '../kinds/groups/storage/csi-driver.ts';
import { CSINode } from '../kinds/groups/storage/csi-node.ts';
import { CSIStorageCapacity } from '../kinds/groups/storage/csi-storage-capacity.ts';
import { StorageClass } from '../kinds/groups/storage/storage-class.ts';
import { VolumeAttachment } from '../kinds/groups/storage/volume-attachment.ts';
import { freeByClass, volumesByClaim } from '../kinds/volumes/binding.ts';
import { Cluster } from './cluster/cluster.ts';
import { Storage } from './cluster/storage.ts';
import type { World } from './cluster/world.ts';
import type { ClusterEvent } from './framework/events.ts';
import { type VolumeAttachment as Attachment, NO_LABELS } from './objects.ts';
import { Siblings } from './siblings.ts';

const byNode = ({ spec }: Attachment) => [spec.nodeName];

export interface InformedWorld extends World {
  /** Resolves when all informers have synced. Nodes and pods are followed by the caller. */
  readonly synced: Promise<unknown>;
  /** Calls back for every change of storage objects from now on. */
  onChange(note: (event: ClusterEvent) => void): void;
}

export function informedWorld(informers: InformerFactory): InformedWorld {
  const namespaces = informers.of(Namespace);
  const claims = informers.of(PersistentVolumeClaim);
  const volumes = informers.of(PersistentVolume);
  const classes = informers.of(StorageClass);
  const csiNodes = informers.of(CSINode);
  const drivers = informers.of(CSIDriver);
  const capacities = informers.of(CSIStorageCapacity);
  const attachments = informers.of(VolumeAttachment);
  const siblings = new Siblings(informers);
  const ofVolumes = {
    PersistentVolumeClaim: claims,
    PersistentVolume: volumes,
    StorageClass: classes,
    CSINode: csiNodes,
    CSIDriver: drivers,
    CSIStorageCapacity: capacities,
    VolumeAttachment: attachments,
  };
  const followed = [namespaces, ...Object.values(ofVolumes)];
  return {
    cluster: new Cluster(),
    storage: new Storage({
      claim: (namespace, name) => claims.lister.get(name, namespace),
      volume: (name) => volumes.lister.get(name),
      freeVolumes: (className) => volumes.lister.by(freeByClass, className),
      volumesFor: (claim) => volumes.lister.by(volumesByClaim, claim),
      class: (name) => classes.lister.get(name),
      csiNode: (name) => csiNodes.lister.get(name),
      driver: (name) => drivers.lister.get(name),
      capacities: () => capacities.lister.list(),
      attachments: (nodeName) => attachments.lister.by(byNode, nodeName),
    }),
    namespaces: () => namespaces.lister.list(),
    namespaceLabels: (name) => namespaces.lister.get(name)?.metadata.labels ?? NO_LABELS,
    siblings: (pod) => siblings.of(pod),
    synced: Promise.all([siblings.synced, ...followed.map(({ synced }) => synced)]),
    onChange(note) {
      for (const [resource, informer] of Object.entries(ofVolumes)) {
        informer.onChange((change: object) => note({ resource, ...change } as ClusterEvent));
      }
    },
  };
}

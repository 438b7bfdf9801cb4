/** The scheduler's view of the cluster, fed by informers. */

import type { DeepReadonly } from '../api/object-types.ts';
import { getOrInsert } from '../base/collections/get-or-insert.ts';
import type { Informer } from '../client/informer/informer.ts';
import type { InformerFactory } from '../client/informer/informer-factory.ts';
import { controllerOf } from '../client/informer/object-cache.ts';
import { ReplicaSet } from '../kinds/groups/apps/replica-set.ts';
import { StatefulSet } from '../kinds/groups/apps/stateful-set.ts';
import { Namespace } from '../kinds/groups/core/namespace.ts';
import { PersistentVolume } from '../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { ReplicationController } from '../kinds/groups/core/replication-controller.ts';
import { Service } from '../kinds/groups/core/service/service.ts';
import { CSIDriver } from '../kinds/groups/storage/csi-driver.ts';
import { CSINode } from '../kinds/groups/storage/csi-node.ts';
import { CSIStorageCapacity } from '../kinds/groups/storage/csi-storage-capacity.ts';
import { StorageClass } from '../kinds/groups/storage/storage-class.ts';
import { VolumeAttachment } from '../kinds/groups/storage/volume-attachment.ts';
import { freeByClass, volumesByClaim } from '../kinds/volumes/binding.ts';
import { fromLabelSelector, fromLabels, type LabelSelector } from '../schema/selector/selector.ts';
import { Cluster } from './cluster/cluster.ts';
import type { PodInfo } from './cluster/pod-info.ts';
import { Storage } from './cluster/storage.ts';
import type { World } from './cluster/world.ts';
import type { ClusterEvent } from './framework/events.ts';
import { type VolumeAttachment as Attachment, NO_LABELS } from './objects.ts';

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

type Controller = DeepReadonly<ReplicaSet | StatefulSet | ReplicationController>;

class Siblings {
  readonly #services = new Map<string, Map<string, LabelSelector>>();
  readonly #replicaSets: Informer<ReplicaSet>;
  readonly #statefulSets: Informer<StatefulSet>;
  readonly #controllers: Informer<ReplicationController>;
  readonly #compiled = new WeakMap<object, LabelSelector>();
  readonly synced: Promise<unknown>;

  constructor(informers: InformerFactory) {
    const services = informers.of(Service);
    this.#replicaSets = informers.of(ReplicaSet);
    this.#statefulSets = informers.of(StatefulSet);
    this.#controllers = informers.of(ReplicationController);
    services.onChange(({ type, object: { metadata, spec } }) => {
      const { name = '', namespace = '' } = metadata;
      const known = this.#services.get(namespace) ?? new Map<string, LabelSelector>();
      const selector = type === 'delete' ? undefined : spec.selector;
      if (selector && Object.keys(selector).length > 0) known.set(name, fromLabels(selector));
      else known.delete(name);
      if (known.size > 0) this.#services.set(namespace, known);
      else this.#services.delete(namespace);
    });
    const all = [services, this.#replicaSets, this.#statefulSets, this.#controllers];
    this.synced = Promise.all(all.map(({ synced }) => synced));
  }

  of(pod: PodInfo): LabelSelector | undefined {
    const found: LabelSelector[] = [];
    const services = this.#services.get(pod.namespace);
    if (services) for (const selector of services.values()) if (selector.matches(pod.labels)) found.push(selector);
    const controller = this.#controllerOf(pod);
    if (controller) found.push(this.#selectorOf(controller));
    return together(found);
  }

  #controllerOf({ pod, namespace }: PodInfo): Controller | undefined {
    const owner = controllerOf(pod);
    if (!owner) return undefined;
    switch (`${owner.apiVersion} ${owner.kind}`) {
      case 'apps/v1 ReplicaSet':
        return this.#replicaSets.lister.get(owner.name, namespace);
      case 'apps/v1 StatefulSet':
        return this.#statefulSets.lister.get(owner.name, namespace);
      case 'v1 ReplicationController':
        return this.#controllers.lister.get(owner.name, namespace);
      default:
        return undefined;
    }
  }

  #selectorOf(controller: Controller): LabelSelector {
    return getOrInsert(this.#compiled, controller, () => {
      const source = controller.spec.selector;
      const isPlain = controller.kind === 'ReplicationController';
      return isPlain ? fromLabels((source ?? {}) as Record<string, string>) : fromLabelSelector(source as object);
    });
  }
}

/** Combines selectors: all of them must match. */
function together(selectors: readonly LabelSelector[]): LabelSelector | undefined {
  const real = selectors.filter(({ empty }) => !empty);
  if (real.length < 2) return real[0];
  return {
    matches: (labels) => real.every((each) => each.matches(labels)),
    text: real.map(({ text }) => text).join('&'),
    empty: false,
  };
}

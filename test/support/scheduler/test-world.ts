/** World of a few nodes and pods for tests of scheduling, made of objects as a server would store them. */
import { deepFreeze } from '../../../src/base/json/tree.ts';
import { Node as NodeKind } from '../../../src/kinds/groups/core/node/node.ts';
import { PersistentVolume } from '../../../src/kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../../src/kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod as PodKind } from '../../../src/kinds/groups/core/pod/pod.ts';
import { freeByClass, volumesByClaim } from '../../../src/kinds/volumes/binding.ts';
import { Cluster } from '../../../src/scheduler/cluster/cluster.ts';
import { PodInfo } from '../../../src/scheduler/cluster/pod-info.ts';
import { Storage } from '../../../src/scheduler/cluster/storage.ts';
import type { World } from '../../../src/scheduler/cluster/world.ts';
import { Filters } from '../../../src/scheduler/framework/filters.ts';
import type { Plugin } from '../../../src/scheduler/framework/plugin.ts';
import { scoresOf } from '../../../src/scheduler/framework/ranking.ts';
import {
  type Claim,
  type CSIDriver,
  type CSINode,
  type CSIStorageCapacity,
  type Labels,
  type Namespace,
  NO_LABELS,
  type Node,
  type Pod,
  type StorageClass,
  type Volume,
  type VolumeAttachment,
} from '../../../src/scheduler/objects.ts';
import type { LabelSelector } from '../../../src/schema/selector/selector.ts';
import { create } from '../kinds/test-object.ts';

interface PodParts {
  readonly name?: string;
  readonly namespace?: string;
  readonly labels?: Labels;
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
  /** Requests of its one container. */
  readonly requests?: Readonly<Record<string, string>>;
}

let made = 0;

export function podObject(parts: PodParts = {}): Pod {
  const { name = `pod-${++made}`, namespace = 'default', labels, metadata, spec, status, requests } = parts;
  const container = { name: 'main', image: 'busybox', ...(requests ? { resources: { requests } } : {}) };
  const { object, errors } = create(PodKind, {
    metadata: { name, namespace, labels, ...metadata },
    spec: { containers: [container], ...spec },
  });
  if (errors.length > 0) throw new Error(errors.join('; '));
  object.metadata.uid ??= `${namespace}/${name}`;
  object.status = { ...object.status, ...status };
  return deepFreeze(object);
}

export const podOf = (parts: PodParts = {}): PodInfo => new PodInfo(podObject(parts));

interface NodeParts {
  readonly labels?: Labels;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: object;
  readonly status?: object;
  readonly allocatable?: Readonly<Record<string, string>>;
}

export function nodeObject(
  name: string,
  { labels = {}, annotations, spec = {}, status, allocatable }: NodeParts = {},
): Node {
  const amounts = { cpu: '4', memory: '8Gi', pods: '10', ...allocatable };
  const all = { 'kubernetes.io/hostname': name, ...labels };
  const { object, errors } = create(NodeKind, { metadata: { name, labels: all, annotations }, spec });
  if (errors.length > 0) throw new Error(errors.join('; '));
  object.status = { ...object.status, capacity: amounts, allocatable: amounts, ...status };
  return deepFreeze(object);
}

export function claimObject(name: string, spec: object = {}, rest: { metadata?: object; status?: object } = {}): Claim {
  const resources = { requests: { storage: '1Gi' } };
  const { object } = create(PersistentVolumeClaim, {
    metadata: { name, namespace: 'default', ...rest.metadata },
    spec: { accessModes: ['ReadWriteOnce'], resources, ...spec },
  });
  object.metadata.uid ??= `claim ${name}`;
  object.status = { ...object.status, ...rest.status };
  return deepFreeze(object);
}

/** A claim that has its volume. */
export function boundClaim(name: string, volumeName: string, spec: object = {}): Claim {
  const metadata = { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } };
  return claimObject(name, { volumeName, ...spec }, { metadata });
}

export function volumeObject(name: string, spec: object = {}, metadata: object = {}): Volume {
  const source = { hostPath: { path: '/data' } };
  const { object } = create(PersistentVolume, {
    metadata: { name, ...metadata },
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...source, ...spec },
  });
  object.status = { phase: 'Available' };
  return deepFreeze(object);
}

export function classObject(name: string, parts: object = {}): StorageClass {
  const usual = { provisioner: 'example.com/disk', volumeBindingMode: 'WaitForFirstConsumer', reclaimPolicy: 'Delete' };
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name },
    ...usual,
    ...parts,
  } as StorageClass;
}

export class TestWorld implements World {
  readonly cluster = new Cluster();
  readonly claims: Claim[] = [];
  readonly volumes: Volume[] = [];
  readonly classes: StorageClass[] = [];
  readonly csiNodes: CSINode[] = [];
  readonly drivers: CSIDriver[] = [];
  readonly capacities: CSIStorageCapacity[] = [];
  readonly attachments: VolumeAttachment[] = [];
  readonly labelsOfNamespaces = new Map<string, Labels>();
  siblingSelector: LabelSelector | undefined;

  readonly storage = new Storage({
    claim: (namespace, name) => this.claims.find(({ metadata: m }) => m.namespace === namespace && m.name === name),
    volume: (name) => named(this.volumes, name),
    freeVolumes: (className) => this.volumes.filter((volume) => freeByClass(volume).includes(className)),
    volumesFor: (claim) => this.volumes.filter((volume) => volumesByClaim(volume).includes(claim)),
    class: (name) => named(this.classes, name),
    csiNode: (name) => named(this.csiNodes, name),
    driver: (name) => named(this.drivers, name),
    capacities: () => this.capacities,
    attachments: (nodeName) => this.attachments.filter(({ spec }) => spec.nodeName === nodeName),
  });

  constructor(nodes: readonly Node[] = []) {
    for (const node of nodes) this.cluster.setNode(node);
  }

  namespaces(): readonly Namespace[] {
    return [...this.labelsOfNamespaces].map(
      ([name, labels]) => ({ metadata: { name, labels } }) as unknown as Namespace,
    );
  }

  namespaceLabels(name: string): Labels {
    return this.labelsOfNamespaces.get(name) ?? NO_LABELS;
  }

  siblings(): LabelSelector | undefined {
    return this.siblingSelector;
  }

  place(nodeName: string, ...parts: PodParts[]): PodInfo[] {
    const pods = parts.map((each) => podOf({ ...each, spec: { ...each.spec, nodeName } }));
    for (const pod of pods) this.cluster.place(pod, nodeName);
    return pods;
  }

  /** Returns by node why it is rejected, or that the pod fits. One text when all are rejected together. */
  verdicts(plugin: Plugin, pod: PodInfo): Record<string, string> | string {
    const filters = Filters.open([plugin], pod, this);
    if (!(filters instanceof Filters)) return filters.rejection.reasons.join(', ');
    return Object.fromEntries(
      this.cluster.nodes.map((node) => {
        if (filters.nodes && !filters.nodes.has(node.name)) return [node.name, 'not looked at'];
        return [node.name, filters.check(node)?.rejection.reasons.join(', ') ?? 'fits'];
      }),
    );
  }

  /** Returns scores by node; empty if the plugin does not tell nodes apart. */
  scores(plugin: Plugin, pod: PodInfo): Record<string, number> {
    const { nodes } = this.cluster;
    const [found] = scoresOf([plugin], { pod, world: this }, nodes);
    return found ? Object.fromEntries(nodes.map(({ name }, index) => [name, found.scores[index]!])) : {};
  }

  /** Reports whether the filter is skipped for the pod. */
  isSkipped(plugin: Plugin, pod: PodInfo): boolean {
    return plugin.preFilter?.(pod, this).type === 'skip';
  }
}

function named<T extends { readonly metadata: { readonly name?: string } }>(list: readonly T[], name: string) {
  return list.find(({ metadata }) => metadata.name === name);
}

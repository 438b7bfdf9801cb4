/** Provisions the volume for a claim. */

import type { DeepReadonly, Draft } from '../../../api/object-types.ts';
import type { SeenNode } from '../../../api/seen-objects.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { StorageClass } from '../../../kinds/groups/storage/storage-class.ts';
import { classNameOf, PROVISIONED_BY, PROVISIONER, SELECTED_NODE } from '../../../kinds/volumes/binding.ts';
import { requestOf } from '../../../kinds/volumes/matching.ts';
import { NODE, NODE_DIRECTORY, REMOVAL } from '../../../kinds/volumes/node-directory.ts';
import type { Listers } from '../../loop/define.ts';
import { create, event, eventContent, type Plan, update } from '../../loop/plan.ts';
import { holds } from '../../shared/conditions.ts';

type Claim = DeepReadonly<PersistentVolumeClaim>;
type Class = DeepReadonly<StorageClass>;

const HOSTNAME = 'kubernetes.io/hostname';
/** The only parameter of a class: the path below which its volumes are created. */
const DIRECTORY = 'directory';
const SUPPORTED_MODES = ['ReadWriteOnce', 'ReadWriteOncePod'];

export function planProvision(claim: Claim | undefined, world: World, root: string): Plan {
  if (!claim || claim.metadata.deletionTimestamp) return [];
  if (claim.metadata.annotations?.[PROVISIONER] !== NODE_DIRECTORY) return [];
  const storageClass = world.of(StorageClass).get(classNameOf(claim));
  if (storageClass?.provisioner !== NODE_DIRECTORY || world.of(PersistentVolume).get(nameFor(claim))) return [];
  const selected = claim.metadata.annotations[SELECTED_NODE];
  if (selected === undefined && storageClass.volumeBindingMode === 'WaitForFirstConsumer') return [];
  const rejection = unsupportedReason(claim, storageClass);
  if (rejection !== undefined) return [failed(claim, rejection)];
  const node = selected === undefined ? anyNode(world, storageClass) : world.nodeNamed(selected);
  if (!node) {
    if (selected === undefined) return [failed(claim, 'there is no node that is ready')];
    // The scheduler may choose another node.
    return [unselect(claim), failed(claim, `node "${selected}" not found`)];
  }
  const hostname = node.metadata.labels?.[HOSTNAME];
  if (!hostname) return [failed(claim, `node "${node.metadata.name}" has no label ${HOSTNAME}`)];
  const above = (storageClass.parameters?.[DIRECTORY] ?? root).replace(/\/$/, '');
  const path = `${above}/${node.metadata.name}/${nameFor(claim)}`;
  const { namespace, name } = claim.metadata;
  const begun = `External provisioner is provisioning volume for claim "${namespace}/${name}"`;
  return [
    event(claim, 'Normal', 'Provisioning', begun),
    create(PersistentVolume, volumeFor(claim, storageClass, { node, hostname, path }), {
      about: claim,
      done: (made) => eventContent('Normal', 'ProvisioningSucceeded', `Successfully provisioned volume ${made}`),
      failed: ({ message }) => eventContent('Warning', 'ProvisioningFailed', failure(claim, message)),
    }),
  ];
}

/** The name is the same on every attempt, so that there is at most one volume for a claim. */
const nameFor = ({ metadata }: Claim) => `pvc-${metadata.uid}`;

const failure = (claim: Claim, why: string) =>
  `failed to provision volume with StorageClass "${classNameOf(claim)}": ${why}`;

const failed = (claim: Claim, why: string) => event(claim, 'Warning', 'ProvisioningFailed', failure(claim, why));

/** Returns why a directory cannot satisfy the claim. */
function unsupportedReason({ spec }: Claim, { mountOptions, parameters = {} }: Class): string | undefined {
  const unknown = Object.keys(parameters).find((name) => name !== DIRECTORY);
  if (unknown !== undefined) return `unknown parameter "${unknown}"`;
  const { [DIRECTORY]: directory = '/' } = parameters;
  if (!/^(\/[^/]+)*\/?$/.test(directory) || /\/\.\.?(\/|$)/.test(directory)) {
    return `parameter "${DIRECTORY}" must be an absolute path without "." and ".."`;
  }
  if (mountOptions?.length) return 'mount options are not supported';
  if (spec.volumeMode === 'Block') return 'block volumes are not supported';
  if (spec.selector) return 'claim.Spec.Selector is not supported';
  if (spec.dataSource || spec.dataSourceRef) return 'data sources are not supported';
  if (spec.volumeAttributesClassName) return 'volume attributes classes are not supported';
  if (spec.accessModes?.some((mode) => !SUPPORTED_MODES.includes(mode))) {
    return `only the access modes ${SUPPORTED_MODES.join(' and ')} are supported`;
  }
  return undefined;
}

function unselect(claim: Claim) {
  const { [SELECTED_NODE]: _, ...annotations } = claim.metadata.annotations ?? {};
  return update(PersistentVolumeClaim, { ...claim, metadata: { ...claim.metadata, annotations } } as Draft<any>);
}

function volumeFor(
  claim: Claim,
  storageClass: Class,
  { node, hostname, path }: { readonly node: SeenNode; readonly hostname: string; readonly path: string },
): Draft<PersistentVolume> {
  const { name, namespace, uid, resourceVersion } = claim.metadata;
  const { reclaimPolicy } = storageClass;
  const matchExpressions = [{ key: HOSTNAME, operator: 'In', values: [hostname] }];
  return {
    metadata: {
      name: nameFor(claim),
      labels: { [NODE]: node.metadata.name ?? '' },
      annotations: { [PROVISIONED_BY]: NODE_DIRECTORY },
      finalizers: reclaimPolicy === 'Delete' ? [REMOVAL] : [],
    },
    spec: {
      capacity: { storage: requestOf(claim) },
      accessModes: claim.spec.accessModes,
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid, resourceVersion },
      persistentVolumeReclaimPolicy: reclaimPolicy,
      storageClassName: storageClass.metadata.name,
      volumeMode: 'Filesystem',
      local: { path },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
    },
  } as Draft<PersistentVolume>;
}

/** The state that plans are made from. */
export interface World extends Listers {
  /** Read from the server where the cache does not have it. */
  nodeNamed(name: string): SeenNode | undefined;
}

/** Reports whether new volumes may be placed on the node. */
export const isHealthy = (node: SeenNode) => !node.spec.unschedulable && holds(node, 'Ready');

/** An index: volumes by their node. */
export const directoriesByNode = ({ metadata }: DeepReadonly<PersistentVolume>): readonly string[] => {
  const node = metadata.labels?.[NODE];
  return node ? [node] : [];
};

/** Returns the healthy node with the fewest volumes, for a claim with immediate binding. */
function anyNode({ of }: World, { allowedTopologies }: DeepReadonly<StorageClass>): SeenNode | undefined {
  let best: { readonly node: SeenNode; readonly volumes: number } | undefined;
  for (const node of of(Node).list()) {
    if (!isHealthy(node) || !isAllowed(node, allowedTopologies)) continue;
    const volumes = of(PersistentVolume).by(directoriesByNode, node.metadata.name ?? '').length;
    if (!best || volumes < best.volumes) best = { node, volumes };
  }
  return best?.node;
}

function isAllowed(
  { metadata: { labels } }: SeenNode,
  terms: DeepReadonly<StorageClass>['allowedTopologies'],
): boolean {
  if (!terms?.length) return true;
  return terms.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values }) => values?.includes(labels?.[key] ?? '') ?? false),
  );
}

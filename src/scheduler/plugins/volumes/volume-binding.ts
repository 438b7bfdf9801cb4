/** Checks whether a pod's volumes can be used on a node: existing ones, and those that would be provisioned. */

import { compareQuantities, parseQuantity } from '../../../base/quantity.ts';
import type { NodeTest } from '../../../kinds/placement/node-selector.ts';
import { classNameOf, isBound } from '../../../kinds/volumes/binding.ts';
import { isMore } from '../../../kinds/volumes/growth.ts';
import { requestOf } from '../../../kinds/volumes/matching.ts';
import { fromLabelSelector } from '../../../schema/selector/selector.ts';
import type { NodeInfo } from '../../cluster/node-info.ts';
import type { PodInfo } from '../../cluster/pod-info.ts';
import type { VolumePlan } from '../../cluster/storage.ts';
import type { World } from '../../cluster/world.ts';
import { type Plugin, type Rejection, rejection, SKIP } from '../../framework/plugin.ts';
import type { Claim, CSIStorageCapacity, Volume } from '../../objects.ts';
import { mayHaveMoved, offersFor, ownClaim, reachOf } from './volume-matching.ts';

const WRONG_NODE = "node(s) didn't match PersistentVolume's node affinity";
const NOTHING_TO_BIND = "node(s) didn't find available persistent volumes to bind";
const TOO_SMALL = 'node(s) did not have enough free storage';
const NO_SUCH_VOLUME = 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)';
const UNBOUND = rejection('pod has unbound immediate PersistentVolumeClaims');

/** A claim that waits for its first consumer. */
interface Waiting {
  readonly claim: Claim;
  readonly selected: string | undefined;
  /** Existing volumes that it could bind to. */
  readonly offers: readonly Volume[];
}

interface State {
  readonly world: World;
  /** Nodes that reach its bound volumes; undefined when one of the volumes does not exist. */
  readonly reaches: readonly NodeTest[] | undefined;
  /** The smallest first, so that each claim gets the best fit. */
  readonly waiting: readonly Waiting[];
}

export const volumeBinding: Plugin<State> = {
  name: 'VolumeBinding',
  preFilter(pod, world) {
    if (pod.claims.length === 0) return SKIP;
    const { objects } = world.storage;
    const bound: Claim[] = [];
    const waiting: Claim[] = [];
    const named = new Set(pod.pod.spec.volumes?.map(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName));
    for (const name of pod.claims) {
      const claim = objects.claim(pod.namespace, name);
      const problem = problemOf(pod, { name, isOwn: !named.has(name) }, claim);
      if (problem || !claim) return { type: 'reject', rejection: rejection(problem ?? '') };
      if (isBound(claim)) {
        bound.push(claim);
      } else if (!claim.spec.volumeName && isPatient(claim, world)) {
        waiting.push(claim);
      } else {
        return { type: 'reject', rejection: UNBOUND };
      }
    }
    const state = {
      world,
      reaches: reachesOf(bound, world),
      waiting: bySize(waiting).map((each) => seen(each, world)),
    };
    return { type: 'go', state };
  },
  filter(_, node, state) {
    const found = planOrReasons(node, state);
    return Array.isArray(found) ? rejectionOf(found) : undefined;
  },
  hints: {
    Node: mayHaveMoved,
    PersistentVolumeClaim: ownClaim,
    PersistentVolume: ({ type, object }, pod, world) =>
      type !== 'delete' && claimsOf(pod, world).some((claim) => mayBind(object, claim, type === 'add')),
    StorageClass: ({ type, object, old }, pod, world) =>
      (type === 'add' ||
        (type === 'update' && JSON.stringify(object.allowedTopologies) !== JSON.stringify(old.allowedTopologies))) &&
      claimsOf(pod, world).some((claim) => classNameOf(claim) === object.metadata.name),
    CSIDriver: ({ type, object, old }) =>
      type === 'update' && Boolean(old.spec.storageCapacity) && !object.spec.storageCapacity,
    CSIStorageCapacity: ({ type, object, old }, pod, world) =>
      (type === 'add' || (type === 'update' && isMore(largestVolumeIn(object) ?? '0', largestVolumeIn(old) ?? '0'))) &&
      claimsOf(pod, world).some((claim) => classNameOf(claim) === object.storageClassName),
  },
};

/** Returns the necessary actions on the pod's claims before it can run on the node; undefined when there are none. */
export function volumePlan(pod: PodInfo, node: NodeInfo, world: World): VolumePlan | undefined {
  const opening = volumeBinding.preFilter?.(pod, world);
  if (opening?.type !== 'go') return undefined;
  const found = planOrReasons(node, opening.state);
  if (Array.isArray(found) || found.bind.length + found.provision.length === 0) return undefined;
  return found;
}

/** `isOwn`: it belongs to an ephemeral volume of the pod. */
function problemOf(
  { pod, namespace }: PodInfo,
  { name, isOwn }: { readonly name: string; readonly isOwn: boolean },
  claim: Claim | undefined,
): string | undefined {
  if (!claim) {
    return isOwn
      ? `waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`
      : `persistentvolumeclaim "${name}" not found`;
  }
  const { metadata, spec, status } = claim;
  if (status.phase === 'Lost') {
    return `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${spec.volumeName}"`;
  }
  if (metadata.deletionTimestamp) return `persistentvolumeclaim "${name}" is being deleted`;
  if (isOwn && !metadata.ownerReferences?.some(({ uid, controller }) => controller && uid === pod.metadata.uid)) {
    const names = `PVC ${namespace}/${name} was not created for pod ${namespace}/${pod.metadata.name}`;
    return `${names} (pod is not owner)`;
  }
  return undefined;
}

function isPatient(claim: Claim, { storage }: World): boolean {
  return storage.objects.class(classNameOf(claim))?.volumeBindingMode === 'WaitForFirstConsumer';
}

function rejectionOf(reasons: readonly string[]): Rejection {
  return { reasons, isResolvable: false };
}

function reachesOf(bound: readonly Claim[], { storage: { objects } }: World): readonly NodeTest[] | undefined {
  const volumes = bound.map(({ spec }) => objects.volume(spec.volumeName ?? ''));
  return volumes.every((volume) => volume !== undefined) ? volumes.map(reachOf) : undefined;
}

function seen(claim: Claim, { storage }: World): Waiting {
  const selected = storage.selectedNode(claim);
  return { claim, selected, offers: selected === undefined ? offersFor(claim, storage) : [] };
}

function planOrReasons(node: NodeInfo, { world, reaches, waiting }: State): VolumePlan | string[] {
  const reasons: string[] = [];
  if (!reaches) reasons.push(NO_SUCH_VOLUME);
  else if (!reaches.every((reaches) => reaches(node))) reasons.push(WRONG_NODE);
  const bind: VolumePlan['bind'][number][] = [];
  const provision: Claim[] = [];
  const taken = new Set<Volume>();
  for (const { claim, selected, offers } of waiting) {
    if (selected !== undefined && selected !== node.name) return [...reasons, NOTHING_TO_BIND];
    const volume = offers.find((offer) => !taken.has(offer) && reachOf(offer)(node));
    if (volume) {
      taken.add(volume);
      bind.push({ claim, volume });
    } else provision.push(claim);
  }
  for (const claim of provision) {
    const reason = whyNotMade(claim, node, world);
    if (reason) return [...reasons, reason];
  }
  return reasons.length > 0 ? reasons : { bind, provision };
}

function bySize(claims: readonly Claim[]): readonly Claim[] {
  if (claims.length < 2) return claims;
  const size = (claim: Claim) => parseQuantity(requestOf(claim));
  return [...claims].sort((a, b) => compareQuantities(size(a), size(b)));
}

const NO_PROVISIONER = 'kubernetes.io/no-provisioner';

function whyNotMade(claim: Claim, node: NodeInfo, { storage }: World): string | undefined {
  const storageClass = storage.objects.class(classNameOf(claim));
  if (!storageClass?.provisioner || storageClass.provisioner === NO_PROVISIONER) return NOTHING_TO_BIND;
  const { allowedTopologies, provisioner } = storageClass;
  const isAllowed =
    !allowedTopologies?.length ||
    allowedTopologies.some(({ matchLabelExpressions = [] }) =>
      matchLabelExpressions.every(({ key, values }) => values?.includes(node.labels[key] ?? '') ?? false),
    );
  if (!isAllowed) return NOTHING_TO_BIND;
  return hasRoom(claim, node, { storage, provisioner }) ? undefined : TOO_SMALL;
}

function hasRoom(
  claim: Claim,
  node: NodeInfo,
  { storage: { objects }, provisioner }: { storage: World['storage']; provisioner: string },
): boolean {
  const wanted = claim.spec.resources?.requests?.storage;
  if (wanted === undefined || !objects.driver(provisioner)?.spec.storageCapacity) return true;
  const size = parseQuantity(wanted);
  return objects.capacities().some((capacity) => {
    const most = largestVolumeIn(capacity);
    const { storageClassName, nodeTopology } = capacity;
    if (storageClassName !== classNameOf(claim) || most === undefined || !nodeTopology) return false;
    return compareQuantities(parseQuantity(most), size) >= 0 && fromLabelSelector(nodeTopology).matches(node.labels);
  });
}

/** The largest volume that the capacity allows. */
const largestVolumeIn = ({ maximumVolumeSize, capacity }: CSIStorageCapacity) => maximumVolumeSize ?? capacity;

function claimsOf({ claims, namespace }: PodInfo, { storage: { objects } }: World): readonly Claim[] {
  return claims.flatMap((name) => objects.claim(namespace, name) ?? []);
}

/** Reports whether a new or changed volume is the one that the claim lacks, or could bind to. */
function mayBind(volume: Volume, claim: Claim, isNew: boolean): boolean {
  if (claim.spec.volumeName) return isNew && claim.spec.volumeName === volume.metadata.name;
  return classNameOf(volume) === classNameOf(claim);
}

/** Plans for one claim. */

import type { DeepReadonly, Draft } from '../../../api/object-types.ts';
import { keyOf } from '../../../client/informer/object-cache.ts';
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { StorageClass } from '../../../kinds/groups/storage/storage-class.ts';
import {
  BOUND_BY_CONTROLLER,
  classAskedFor,
  classNameOf,
  freeByClass,
  isFor,
  OLD_PROVISIONER,
  PROVISIONER,
  SELECTED_NODE,
  volumesByClaim,
} from '../../../kinds/volumes/binding.ts';
import { defaultClass } from '../../../kinds/volumes/default-class.ts';
import { allowsAccess, choice, closestFirst, misfit, suits } from '../../../kinds/volumes/matching.ts';
import { event, type Plan, update } from '../../loop/plan.ts';
import { podsByClaim } from '../../shared/pods/pod-indexes.ts';
import { isTerminal } from '../../shared/pods/pod-life.ts';
import { bind, type Claim, isUnbound, unboundStatus, type Volume, type World } from './bind.ts';

export function planClaim(claim: Claim | undefined, world: World): Plan {
  if (!claim) return [];
  if (!isUnbound(claim)) return planBound(claim, world);
  // A claim that is being deleted is not bound any more.
  if (claim.metadata.deletionTimestamp) return [];
  return claim.spec.volumeName ? planNamed(claim, world) : planSearch(claim, world);
}

/** Plans for a claim that was bound before: its volume exists and is its own, or the data is lost. */
function planBound(claim: Claim, world: World): Plan {
  const { volumeName } = claim.spec;
  if (!volumeName) return lost(claim, 'ClaimLost', 'Bound claim has lost reference to PersistentVolume');
  const volume = volumeNamed(volumeName, world);
  if (!volume) return lost(claim, 'ClaimLost', 'Bound claim has lost its PersistentVolume');
  const { claimRef } = volume.spec;
  if (!claimRef || claimRef.uid === claim.metadata.uid) return bind(volume, claim);
  const message = 'Two claims are bound to the same volume, this one is bound incorrectly';
  return markLost(claim, 'ClaimMisbound', message);
}

function lost(claim: Claim, reason: string, what: string): Plan {
  return markLost(claim, reason, `${what}. Data on the volume is lost!`);
}

function markLost(claim: Claim, reason: string, message: string): Plan {
  if (claim.status.phase === 'Lost') return [];
  return [...unboundStatus(claim, 'Lost'), event(claim, 'Warning', reason, message)];
}

function planNamed(claim: Claim, world: World): Plan {
  const volume = volumeNamed(claim.spec.volumeName ?? '', world);
  if (!volume) return unboundStatus(claim, 'Pending');
  const { name } = volume.metadata;
  if (!volume.spec.claimRef) {
    const why = misfit(volume, claim);
    if (why === undefined) return bind(volume, claim);
    const message = `Cannot bind to requested volume "${name}": ${why}`;
    return [event(claim, 'Warning', 'VolumeMismatch', message), ...unboundStatus(claim, 'Pending')];
  }
  if (isFor(volume, claim)) return bind(volume, claim);
  const said = event(claim, 'Warning', 'FailedBinding', `volume "${name}" already bound to a different claim.`);
  // The annotation of being bound was removed: its state cannot be determined.
  const isOurs = claim.metadata.annotations?.[BOUND_BY_CONTROLLER] !== undefined;
  return isOurs ? [said] : [said, ...unboundStatus(claim, 'Pending')];
}

/** Plans for a claim that takes any matching volume, or gets one provisioned. */
function planSearch(claim: Claim, world: World): Plan {
  const storageClass = world.of(StorageClass).get(classNameOf(claim));
  const isPatient = waitsForPod(storageClass);
  const volume = keptFor(claim, world) ?? (isPatient ? undefined : best(claim, world));
  if (volume) return bind(volume, claim);
  if (classAskedFor(claim) === undefined) {
    const name = defaultClass(world.of(StorageClass).list());
    if (name !== undefined) return [update(PersistentVolumeClaim, withClass(claim, name))];
  }
  if (isPatient && claim.metadata.annotations?.[SELECTED_NODE] === undefined) {
    return [waitingForPod(claim, world), ...unboundStatus(claim, 'Pending')];
  }
  if (classNameOf(claim) !== '') return planProvisioning(claim, storageClass);
  const message = 'no persistent volumes available for this claim and no storage class is set';
  return [event(claim, 'Normal', 'FailedBinding', message), ...unboundStatus(claim, 'Pending')];
}

export function waitsForPod(storageClass: DeepReadonly<StorageClass> | undefined): boolean {
  return storageClass?.volumeBindingMode === 'WaitForFirstConsumer';
}

function keptFor(claim: Claim, world: World): Volume | undefined {
  const kept = world.of(PersistentVolume).by(volumesByClaim, keyOf(claim));
  return kept.find((volume) => isFor(volume, claim) && suits(volume, claim) && allowsAccess(volume, claim));
}

function best(claim: Claim, world: World): Volume | undefined {
  const free = world.of(PersistentVolume).by(freeByClass, classNameOf(claim));
  return choice(claim, free, closestFirst)[0];
}

function volumeNamed(name: string, world: World): Volume | undefined {
  return world.of(PersistentVolume).get(name) ?? world.observed?.volume;
}

function withClass(claim: Claim, storageClassName: string): Draft<PersistentVolumeClaim> {
  return { ...claim, spec: { ...claim.spec, storageClassName } };
}

function waitingForPod(claim: Claim, world: World) {
  const pods = world
    .of(Pod)
    .by(podsByClaim, keyOf(claim))
    .filter((pod) => !pod.spec.nodeName && !isTerminal(pod))
    .map(({ metadata }) => metadata.name);
  if (pods.length === 0) {
    const message = 'waiting for first consumer to be created before binding';
    return event(claim, 'Normal', 'WaitForFirstConsumer', message);
  }
  const message = `waiting for ${pods.length > 1 ? 'pods' : 'pod'} ${pods.join(',')} to be scheduled`;
  return event(claim, 'Normal', 'WaitForPodScheduled', message);
}

/** The prefix of in-tree plugins in Kubernetes. There are none here. */
const IN_TREE_PREFIX = 'kubernetes.io/';

/** Requests provisioning: the provisioner of the class sees its name on the claim. */
function planProvisioning(claim: Claim, storageClass: DeepReadonly<StorageClass> | undefined): Plan {
  if (!storageClass) return failed(claim, `storageclass.storage.k8s.io "${classNameOf(claim)}" not found`);
  const { provisioner } = storageClass;
  if (provisioner.startsWith(IN_TREE_PREFIX)) return failed(claim, `no volume plugin matched name: ${provisioner}`);
  if (claim.metadata.annotations?.[PROVISIONER] === provisioner) return [];
  const annotations = { ...claim.metadata.annotations, [OLD_PROVISIONER]: provisioner, [PROVISIONER]: provisioner };
  const asking = { ...claim, metadata: { ...claim.metadata, annotations } } as Draft<PersistentVolumeClaim>;
  const message =
    `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system ` +
    'administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.';
  return [update(PersistentVolumeClaim, asking), event(claim, 'Normal', 'ExternalProvisioning', message)];
}

function failed(claim: Claim, message: string): Plan {
  return [event(claim, 'Warning', 'ProvisioningFailed', message)];
}

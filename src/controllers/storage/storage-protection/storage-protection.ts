/**
 * Removes the protection finalizer of storage objects that are being deleted once they are unused: claims by pods, volumes by
 * claims, classes by both. The server adds the finalizers on creation.
 */

import type { DeepReadonly } from '../../../api/object-types.ts';
import { keyOf } from '../../../client/informer/object-cache.ts';
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { VolumeAttributesClass } from '../../../kinds/groups/storage/volume-attributes-class.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import { type Controller, defineController, type Listers, related } from '../../loop/define.ts';
import type { Plan } from '../../loop/plan.ts';
import { removeFinalizer } from '../../shared/ownership.ts';
import { podsByClaim } from '../../shared/pods/pod-indexes.ts';

const CLAIM = 'kubernetes.io/pvc-protection';
const VOLUME = 'kubernetes.io/pv-protection';
const CLASS = 'kubernetes.io/vac-protection';

type Claim = DeepReadonly<PersistentVolumeClaim>;
type Volume = DeepReadonly<PersistentVolume>;
type Volumes = NonNullable<DeepReadonly<Pod>['spec']['volumes']>;
type Class = DeepReadonly<VolumeAttributesClass>;

export const claimProtectionController: Controller = defineController<PersistentVolumeClaim>({
  name: 'pvc-protection',
  account: 'pvc-protection-controller',
  watches: PersistentVolumeClaim,
  also: [related(Pod, podsByClaim)],
  plan: planClaim,
});

export const volumeProtectionController: Controller = defineController<PersistentVolume>({
  name: 'pv-protection',
  account: 'pv-protection-controller',
  watches: PersistentVolume,
  plan: planVolume,
});

export const classProtectionController: Controller = defineController<VolumeAttributesClass>({
  name: 'vac-protection',
  account: 'volumeattributesclass-protection-controller',
  watches: VolumeAttributesClass,
  also: [related(PersistentVolumeClaim, classesOfClaim), related(PersistentVolume, classesOfVolume)],
  plan: planClass,
});

export function planClaim(claim: Claim | undefined, world: Listers): Plan {
  if (!claim || !isHeld(claim, CLAIM)) return [];
  const pods = world.of(Pod).by(podsByClaim, keyOf(claim));
  return pods.some((pod) => uses(pod, claim)) ? [] : [removeFinalizer(PersistentVolumeClaim, claim, CLAIM)];
}

/**
 * A pod without a node is not started with a claim that is being deleted. A terminated pod that only its finalizers keep may
 * wait for its own ephemeral claim to be deleted: it does not hold the claim in turn.
 */
function uses({ metadata, spec }: DeepReadonly<Pod>, claim: Claim): boolean {
  if (!spec.nodeName) return false;
  const hasEnded = metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;
  const isNamed = ({ persistentVolumeClaim }: Volumes[number]) =>
    persistentVolumeClaim?.claimName === claim.metadata.name;
  return !hasEnded || (spec.volumes ?? []).some(isNamed);
}

export function planVolume(volume: Volume | undefined): Plan {
  if (!volume || !isHeld(volume, VOLUME) || volume.status.phase === 'Bound') return [];
  return [removeFinalizer(PersistentVolume, volume, VOLUME)];
}

export function planClass(attributes: Class | undefined, world: Listers): Plan {
  if (!attributes || !isHeld(attributes, CLASS)) return [];
  const { name = '' } = attributes.metadata;
  const isUsed =
    world
      .of(PersistentVolumeClaim)
      .list()
      .some((claim) => classesOfClaim(claim).includes(name)) ||
    world
      .of(PersistentVolume)
      .list()
      .some((volume) => classesOfVolume(volume).includes(name));
  return isUsed ? [] : [removeFinalizer(VolumeAttributesClass, attributes, CLASS)];
}

function isHeld({ metadata }: DeepReadonly<KubeObject>, finalizer: string): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers?.includes(finalizer) ?? false);
}

function classesOfClaim({ spec, status }: Claim): string[] {
  const target = status.modifyVolumeStatus?.targetVolumeAttributesClassName;
  return [spec.volumeAttributesClassName, status.currentVolumeAttributesClassName, target].filter(isName);
}

function classesOfVolume({ spec }: Volume): string[] {
  return [spec.volumeAttributesClassName].filter(isName);
}

const isName = (name: string | undefined): name is string => Boolean(name);

/** The writes that bind a claim and a volume to each other, and unbind them. */

import type { DeepReadonly, Draft } from '../../../api/object-types.ts';
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { BIND_COMPLETED, BOUND_BY_CONTROLLER, isFor } from '../../../kinds/volumes/binding.ts';
import type { Listers } from '../../loop/define.ts';
import { changeStatus, type Plan, update } from '../../loop/plan.ts';

export type Claim = DeepReadonly<PersistentVolumeClaim>;
export type Volume = DeepReadonly<PersistentVolume>;

/** The counterpart of a claim or volume, if the server has it and the cache does not. */
export interface Counterpart {
  readonly claim?: Claim | undefined;
  readonly volume?: Volume | undefined;
}

/** The state that plans are made from. */
export interface World extends Listers {
  readonly observed?: Counterpart | undefined;
}

/** Reports whether the claim has never been bound. */
export function isUnbound({ metadata }: Claim): boolean {
  return metadata.annotations?.[BIND_COMPLETED] === undefined;
}

/**
 * First the volume, with the version that was seen: the second writer fails there. Then the claim. Its status is written with
 * the next plan, when both are written; the phase of the volume with the volume's plan.
 */
export function bind(volume: Volume, claim: Claim): Plan {
  const written = [...takeVolume(volume, claim), ...takeNote(claim, volume)];
  return written.length > 0 ? written : boundStatus(claim, volume);
}

function takeVolume(volume: Volume, claim: Claim): Plan {
  const { claimRef } = volume.spec;
  const isReserved = isFor(volume, claim);
  if (isReserved && claimRef?.uid === claim.metadata.uid) return [];
  const { name, namespace, uid, resourceVersion } = claim.metadata;
  const reference = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid, resourceVersion };
  // A volume that a user reserved for the claim is not marked as bound by the controller.
  const metadata = isReserved ? volume.metadata : annotated(volume.metadata, { [BOUND_BY_CONTROLLER]: 'yes' });
  return [
    update(PersistentVolume, { ...volume, metadata, spec: { ...volume.spec, claimRef: reference } } as Draft<any>),
  ];
}

function takeNote(claim: Claim, volume: Volume): Plan {
  const { name } = volume.metadata;
  const isNamed = claim.spec.volumeName === name;
  if (isNamed && claim.metadata.annotations?.[BIND_COMPLETED] !== undefined) return [];
  const marks = { [BIND_COMPLETED]: 'yes', ...(isNamed ? {} : { [BOUND_BY_CONTROLLER]: 'yes' }) };
  const metadata = annotated(claim.metadata, marks);
  return [
    update(PersistentVolumeClaim, { ...claim, metadata, spec: { ...claim.spec, volumeName: name } } as Draft<any>),
  ];
}

function annotated<T extends Claim['metadata']>(metadata: T, marks: Readonly<Record<string, string>>): T {
  return { ...metadata, annotations: { ...marks, ...metadata.annotations } };
}

/** The capacity is recorded when it is bound, and then left to the resizer. */
function boundStatus(claim: Claim, { spec }: Volume): Plan {
  const { status } = claim;
  const isNew = status.phase !== 'Bound';
  const attributes = status.phase === 'Pending' ? spec.volumeAttributesClassName : undefined;
  return changeStatus(PersistentVolumeClaim, claim, {
    ...status,
    phase: 'Bound',
    accessModes: spec.accessModes,
    ...(isNew ? { capacity: spec.capacity } : {}),
    ...(attributes === undefined ? {} : { currentVolumeAttributesClassName: attributes }),
  });
}

/** The claim has no volume: it is pending, or has lost it. */
export function unboundStatus(claim: Claim, phase: 'Pending' | 'Lost'): Plan {
  const { accessModes: _, capacity: __, currentVolumeAttributesClassName: ___, ...rest } = claim.status;
  return changeStatus(PersistentVolumeClaim, claim, { ...rest, phase });
}

/** Unbinds the volume. A user's reservation for a claim stays. */
export function unbind(volume: Volume): Plan {
  const { metadata, spec } = volume;
  const { [BOUND_BY_CONTROLLER]: mark, ...annotations } = metadata.annotations ?? {};
  const { claimRef, ...unclaimed } = spec;
  const changed =
    mark === undefined
      ? { ...volume, spec: { ...spec, claimRef: { ...claimRef, uid: undefined } } }
      : { ...volume, metadata: { ...metadata, annotations }, spec: unclaimed };
  return [update(PersistentVolume, changed as Draft<PersistentVolume>)];
}

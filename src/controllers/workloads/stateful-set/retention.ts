/**
 * What becomes of claims that no pod needs any more, told by whom they belong to: to the set, they go with it; to a pod that
 * is one too many, they go with the pod; to nobody, they stay.
 */
import type { DeepReadonly } from '../../../client/object-types.ts';
import { StatefulSet } from '../../../kinds/groups/apps/stateful-set.ts';
import type { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { controllerReference } from '../../shared/ownership.ts';
import { podName, type SeenPod, type SeenSet } from './identity.ts';

type SeenClaim = DeepReadonly<PersistentVolumeClaim>;
type Reference = NonNullable<SeenClaim['metadata']['ownerReferences']>[number];

/** Where in the set a pod is or will be. */
export interface Place {
  readonly ordinal: number;
  readonly pod?: SeenPod | undefined;
  /** The set has become too small for it. */
  readonly isCondemned?: boolean;
}

/** Of a claim that is made for a pod that belongs there. */
export function ownersOnCreate(set: SeenSet): { readonly ownerReferences?: readonly Reference[] } {
  return policyOf(set).whenDeleted === 'Delete' ? { ownerReferences: [controllerReference(set, StatefulSet)] } : {};
}

export interface WantedOwners {
  readonly references: readonly Reference[];
  /** Somebody else manages the claim, so that it is left to them. */
  readonly conflicts: boolean;
}

/** Undefined when all is well, or when the claim was left over by an earlier set or pod of the same name. */
export function ownersWanted(set: SeenSet, claim: SeenClaim, place: Place): WantedOwners | undefined {
  const references = claim.metadata.ownerReferences ?? [];
  const isOurs = (each: Reference) => namesSet(each, set) || namesPod(each, set, place);
  if (references.some((each) => isOurs(each) && !isUs(each, set, place))) return undefined;
  const ours = references.filter(isOurs);
  const others = references.filter((each) => !isOurs(each));
  const { whenDeleted, whenScaled } = policyOf(set);
  const retains = whenDeleted === 'Retain' && whenScaled === 'Retain';
  if (!retains && others.some(({ controller }) => controller)) {
    return ours.length > 0 ? { references: others, conflicts: true } : undefined;
  }
  const wanted = wantedReferences(set, place);
  const isWell = ours.length === wanted.length && wanted.every(({ uid }) => ours.some((each) => isManager(each, uid)));
  return isWell ? undefined : { references: [...others, ...wanted], conflicts: false };
}

/** It waits for the garbage collector, together with the pod that had it. */
export function isOwnedByEarlierPod(set: SeenSet, { metadata }: SeenClaim, place: Place): boolean {
  if (policyOf(set).whenScaled === 'Retain') return false;
  return (metadata.ownerReferences ?? []).some((each) => namesPod(each, set, place) && !isUs(each, set, place));
}

function wantedReferences(set: SeenSet, { pod, isCondemned = false }: Place): readonly Reference[] {
  const { whenDeleted, whenScaled } = policyOf(set);
  if (whenScaled === 'Delete' && isCondemned) return pod ? [controllerReference(pod, Pod)] : [];
  return whenDeleted === 'Delete' ? [controllerReference(set, StatefulSet)] : [];
}

function policyOf({ spec }: SeenSet): { readonly whenDeleted: string; readonly whenScaled: string } {
  const { whenDeleted = 'Retain', whenScaled = 'Retain' } = spec.persistentVolumeClaimRetentionPolicy ?? {};
  return { whenDeleted, whenScaled };
}

const namesSet = ({ apiVersion, kind, name }: Reference, { metadata }: SeenSet) =>
  kind === StatefulSet.kind && apiVersion === StatefulSet.hub.apiVersion && name === metadata.name;

const namesPod = ({ apiVersion, kind, name }: Reference, set: SeenSet, { ordinal }: Place) =>
  kind === Pod.kind && apiVersion === Pod.hub.apiVersion && name === podName(set, ordinal);

const isUs = ({ uid }: Reference, set: SeenSet, { pod }: Place) =>
  uid === set.metadata.uid || (pod !== undefined && uid === pod.metadata.uid);

const isManager = (reference: Reference, uid: string) => reference.uid === uid && reference.controller === true;

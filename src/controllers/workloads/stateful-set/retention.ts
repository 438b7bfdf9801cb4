/**
 * Retention of claims that no pod needs, by their owner: owned by the set, they are deleted with it; owned by a surplus
 * pod, with the pod; without an owner, they stay.
 */
import type { SeenClaim, SeenPod } from '../../../api/seen-objects.ts';
import { StatefulSet } from '../../../kinds/groups/apps/stateful-set.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { controllerReference } from '../../shared/ownership.ts';
import { podName, type SeenSet } from './identity.ts';

type Reference = NonNullable<SeenClaim['metadata']['ownerReferences']>[number];

/** The ordinal and pod that a claim belongs to. */
export interface ClaimContext {
  readonly ordinal: number;
  readonly pod?: SeenPod | undefined;
  /** True when its pod is beyond the size of the set. */
  readonly isCondemned?: boolean;
}

/** The owners of a claim that is created for a pod of the set. */
export function ownersOnCreate(set: SeenSet): { readonly ownerReferences?: readonly Reference[] } {
  return policyOf(set).whenDeleted === 'Delete' ? { ownerReferences: [controllerReference(set, StatefulSet)] } : {};
}

export interface DesiredOwners {
  readonly references: readonly Reference[];
  /** True when another controller manages the claim, so that it is left alone. */
  readonly conflicts: boolean;
}

/**
 * Returns undefined when nothing is to change, or when the claim is left from an earlier set or pod of the same name.
 */
export function desiredOwners(set: SeenSet, claim: SeenClaim, context: ClaimContext): DesiredOwners | undefined {
  const references = claim.metadata.ownerReferences ?? [];
  const isOurs = (each: Reference) => namesSet(each, set) || namesPod(each, set, context);
  if (references.some((each) => isOurs(each) && !isUs(each, set, context))) return undefined;
  const ours = references.filter(isOurs);
  const others = references.filter((each) => !isOurs(each));
  const { whenDeleted, whenScaled } = policyOf(set);
  const retains = whenDeleted === 'Retain' && whenScaled === 'Retain';
  if (!retains && others.some(({ controller }) => controller)) {
    return ours.length > 0 ? { references: others, conflicts: true } : undefined;
  }
  const wanted = wantedReferences(set, context);
  const isWell = ours.length === wanted.length && wanted.every(({ uid }) => ours.some((each) => isManager(each, uid)));
  return isWell ? undefined : { references: [...others, ...wanted], conflicts: false };
}

/** Reports whether the claim waits for the garbage collector together with the pod that owned it. */
export function isOwnedByEarlierPod(set: SeenSet, { metadata }: SeenClaim, context: ClaimContext): boolean {
  if (policyOf(set).whenScaled === 'Retain') return false;
  return (metadata.ownerReferences ?? []).some((each) => namesPod(each, set, context) && !isUs(each, set, context));
}

function wantedReferences(set: SeenSet, { pod, isCondemned = false }: ClaimContext): readonly Reference[] {
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

const namesPod = ({ apiVersion, kind, name }: Reference, set: SeenSet, { ordinal }: ClaimContext) =>
  kind === Pod.kind && apiVersion === Pod.hub.apiVersion && name === podName(set, ordinal);

const isUs = ({ uid }: Reference, set: SeenSet, { pod }: ClaimContext) =>
  uid === set.metadata.uid || (pod !== undefined && uid === pod.metadata.uid);

const isManager = (reference: Reference, uid: string) => reference.uid === uid && reference.controller === true;

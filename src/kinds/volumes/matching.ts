/** Finds existing volumes that match a claim. */
import { compareQuantities, parseQuantity } from '../../base/quantity.ts';
import { fromLabelSelector } from '../../schema/selector/selector.ts';
import { classNameOf, type SeenClaim, type SeenVolume } from './binding.ts';

/** Why a claim cannot use the volume that it names, with the message of Kubernetes; undefined if it can. */
export function misfit(volume: SeenVolume, claim: SeenClaim): string | undefined {
  if (volume.metadata.deletionTimestamp) return `the volume is marked for deletion "${volume.metadata.name}"`;
  if (!isLargeEnough(volume, claim)) return 'requested PV is too small';
  if (classNameOf(volume) !== classNameOf(claim)) return 'storageClassName does not match';
  if (!hasAttributes(volume, claim)) return 'volumeAttributesClassName does not match';
  if (!hasMode(volume, claim)) return 'incompatible volumeMode';
  if (!allowsAccess(volume, claim)) return 'incompatible accessMode';
  return undefined;
}

/** Reports whether a volume that is reserved for the claim can be bound to it. Class and labels do not matter. */
export function suits(volume: SeenVolume, claim: SeenClaim): boolean {
  return (
    !volume.metadata.deletionTimestamp &&
    isLargeEnough(volume, claim) &&
    hasMode(volume, claim) &&
    hasAttributes(volume, claim)
  );
}

/** The volumes that the claim can be bound to, in order of preference. `volumes` are available and of its class. */
export function choice<V extends SeenVolume>(
  claim: SeenClaim,
  volumes: readonly V[],
  order: (a: SeenVolume, b: SeenVolume) => number = smallestFirst,
): V[] {
  if (volumes.length === 0) return [];
  const selector = claim.spec.selector && fromLabelSelector(claim.spec.selector);
  return volumes
    .filter((volume) => suits(volume, claim) && allowsAccess(volume, claim))
    .filter((volume) => !selector || selector.matches(volume.metadata.labels))
    .sort(order);
}

/** Reports whether both have the same volume mode. */
export function hasMode({ spec: volume }: SeenVolume, { spec: claim }: SeenClaim): boolean {
  return (volume.volumeMode ?? 'Filesystem') === (claim.volumeMode ?? 'Filesystem');
}

/** The requested amount of storage. */
export function requestOf({ spec }: SeenClaim): string {
  return spec.resources?.requests?.storage ?? '0';
}

const sizeOf = ({ spec }: SeenVolume) => parseQuantity(spec.capacity?.storage ?? '0');

function isLargeEnough(volume: SeenVolume, claim: SeenClaim): boolean {
  return compareQuantities(sizeOf(volume), parseQuantity(requestOf(claim))) >= 0;
}

function hasAttributes({ spec: volume }: SeenVolume, { spec: claim }: SeenClaim): boolean {
  return (volume.volumeAttributesClassName ?? '') === (claim.volumeAttributesClassName ?? '');
}

export function allowsAccess({ spec: volume }: SeenVolume, { spec: claim }: SeenClaim): boolean {
  return (claim.accessModes ?? []).every((mode) => volume.accessModes?.includes(mode));
}

/** Volumes with the fewest access modes first, and of these the smallest. */
export function closestFirst(a: SeenVolume, b: SeenVolume): number {
  return (a.spec.accessModes?.length ?? 0) - (b.spec.accessModes?.length ?? 0) || smallestFirst(a, b);
}

function smallestFirst(a: SeenVolume, b: SeenVolume): number {
  return compareQuantities(sizeOf(a), sizeOf(b)) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);
}

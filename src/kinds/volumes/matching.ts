/** Which volume that is there suits a claim. */
import { compareQuantities, parseQuantity } from '../../base/quantity.ts';
import { fromLabelSelector } from '../../schema/selector.ts';
import { classNameOf, type SeenClaim, type SeenVolume } from './binding.ts';

/** Why a volume that a claim asks for by name cannot be its volume, in the words of Kubernetes; undefined: it can. */
export function misfit(volume: SeenVolume, claim: SeenClaim): string | undefined {
  if (volume.metadata.deletionTimestamp) return `the volume is marked for deletion "${volume.metadata.name}"`;
  if (!isLargeEnough(volume, claim)) return 'requested PV is too small';
  if (classNameOf(volume) !== classNameOf(claim)) return 'storageClassName does not match';
  if (!hasAttributes(volume, claim)) return 'volumeAttributesClassName does not match';
  if (!hasMode(volume, claim)) return 'incompatible volumeMode';
  if (!allowsAccess(volume, claim)) return 'incompatible accessMode';
  return undefined;
}

/** Whether a volume that is kept for the claim can be its volume. Its class and labels are not asked about. */
export function suits(volume: SeenVolume, claim: SeenClaim): boolean {
  return (
    !volume.metadata.deletionTimestamp &&
    isLargeEnough(volume, claim) &&
    hasMode(volume, claim) &&
    hasAttributes(volume, claim)
  );
}

/** The volumes that the claim may take, in order. They must be of its class, and nobody's. */
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

/** Whether pods get files of one and files of the other, or devices of both. */
export function hasMode({ spec: volume }: SeenVolume, { spec: claim }: SeenClaim): boolean {
  return (volume.volumeMode ?? 'Filesystem') === (claim.volumeMode ?? 'Filesystem');
}

/** The amount of storage that is asked for. */
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

/** Those first that can do little more than was asked for, and of them the smallest. */
export function closestFirst(a: SeenVolume, b: SeenVolume): number {
  return (a.spec.accessModes?.length ?? 0) - (b.spec.accessModes?.length ?? 0) || smallestFirst(a, b);
}

function smallestFirst(a: SeenVolume, b: SeenVolume): number {
  return compareQuantities(sizeOf(a), sizeOf(b)) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);
}

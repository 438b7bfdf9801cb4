/** Which volume that is there suits a claim on a node. */
import { compareQuantities, parseQuantity } from '../../base/quantity.ts';
import { nodeSelector } from '../../kinds/placement/node-selector.ts';
import { fromLabelSelector } from '../../schema/selector.ts';
import type { NodeInfo } from '../cluster/node-info.ts';
import { classNameOf, type Storage } from '../cluster/storage.ts';
import type { Claim, Volume } from '../objects.ts';

/** Whether the volume can be used on the node. */
export function isReachable({ spec }: Volume, node: NodeInfo): boolean {
  const required = spec.nodeAffinity?.required;
  return !required || nodeSelector(required)(node);
}

/** The volume that was made for the claim, or else the smallest that is large enough. */
export function findVolume(
  claim: Claim,
  node: NodeInfo,
  { storage, taken }: { readonly storage: Storage; readonly taken: ReadonlySet<string> },
): Volume | undefined {
  let best: Volume | undefined;
  for (const volume of storage.objects.volumesOf(classNameOf(claim))) {
    if (taken.has(volume.metadata.name ?? '') || storage.isPromised(volume, claim)) continue;
    const holder = volume.spec.claimRef;
    if ((holder && !isFor(holder, claim)) || volume.metadata.deletionTimestamp || !suits(volume, claim)) continue;
    if (holder) return isReachable(volume, node) ? volume : undefined;
    if (isFree(volume, claim) && isReachable(volume, node) && (!best || sizeOf(volume, best) < 0)) best = volume;
  }
  return best;
}

function isFor({ name, namespace, uid }: NonNullable<Volume['spec']['claimRef']>, { metadata }: Claim): boolean {
  return name === metadata.name && namespace === metadata.namespace && (!uid || uid === metadata.uid);
}

function suits({ spec: volume }: Volume, { spec: claim }: Claim): boolean {
  const wanted = claim.resources?.requests?.storage ?? '0';
  const has = volume.capacity?.storage ?? '0';
  return (
    compareQuantities(parseQuantity(has), parseQuantity(wanted)) >= 0 &&
    (claim.volumeMode ?? 'Filesystem') === (volume.volumeMode ?? 'Filesystem') &&
    (claim.volumeAttributesClassName ?? '') === (volume.volumeAttributesClassName ?? '')
  );
}

function isFree({ spec: volume, status, metadata }: Volume, { spec: claim }: Claim): boolean {
  return (
    status.phase === 'Available' &&
    (!claim.selector || fromLabelSelector(claim.selector).matches(metadata.labels)) &&
    (claim.accessModes ?? []).every((mode) => volume.accessModes?.includes(mode))
  );
}

function sizeOf(a: Volume, b: Volume): number {
  return compareQuantities(
    parseQuantity(a.spec.capacity?.storage ?? '0'),
    parseQuantity(b.spec.capacity?.storage ?? '0'),
  );
}

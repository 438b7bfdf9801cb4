/** Finds existing volumes that a claim can bind to, and nodes that can reach them. */
import { memoized } from '../../../base/collections/memoized.ts';
import { type NodeTest, nodeSelector } from '../../../kinds/placement/node-selector.ts';
import { classNameOf, isFor } from '../../../kinds/volumes/binding.ts';
import { choice, suits } from '../../../kinds/volumes/matching.ts';
import type { PodInfo } from '../../cluster/pod-info.ts';
import { claimKey, type Storage } from '../../cluster/storage.ts';
import type { EventOf } from '../../framework/events.ts';
import type { Claim, Volume } from '../../objects.ts';

const EVERYWHERE: NodeTest = () => true;
/** Volumes are checked for every node. Cached objects are never modified, so that results stay valid. */

export const reachOf = memoized((volume: Volume): NodeTest => {
  const required = volume.spec.nodeAffinity?.required;
  return required ? nodeSelector(required) : EVERYWHERE;
});

/** Returns the volume that is bound to or reserved for the claim; otherwise all that match, the smallest first. */
export function offersFor(claim: Claim, storage: Storage): readonly Volume[] {
  const { objects } = storage;
  const kept = objects.volumesFor(claimKey(claim)).find((volume) => isFor(volume, claim) && suits(volume, claim));
  const own = storage.assumedVolume(claim) ?? kept;
  if (own) return [own];
  const free = objects.freeVolumes(classNameOf(claim)).filter((volume) => !storage.isAssumed(volume));
  return choice(claim, free);
}

/** A claim of the pod was added or changed. */
export function ownClaim({ type, object }: EventOf<'PersistentVolumeClaim'>, { namespace, claims }: PodInfo): boolean {
  return type !== 'delete' && object.metadata.namespace === namespace && claims.includes(object.metadata.name ?? '');
}

/** A node was added, or has other labels and may be in another zone. */
export function mayHaveMoved({ type, object, old }: EventOf<'Node'>): boolean {
  return (
    type === 'add' ||
    (type === 'update' && JSON.stringify(object.metadata.labels) !== JSON.stringify(old.metadata.labels))
  );
}

/** Which volumes that are there a claim can have, and which nodes can reach them. */
import { type NodeTest, nodeSelector } from '../../../kinds/placement/node-selector.ts';
import { classNameOf, isFor } from '../../../kinds/volumes/binding.ts';
import { choice, suits } from '../../../kinds/volumes/matching.ts';
import { claimKey, type Storage } from '../../cluster/storage.ts';
import type { Claim, Volume } from '../../objects.ts';

const EVERYWHERE: NodeTest = () => true;
/** Volumes are looked at once a node. An object of the cache is never changed, so what was worked out from it holds. */
const known = new WeakMap<Volume, NodeTest>();

/** The nodes that can reach the volume. */
export function reachOf(volume: Volume): NodeTest {
  const found = known.get(volume);
  if (found) return found;
  const required = volume.spec.nodeAffinity?.required;
  const reach = required ? nodeSelector(required) : EVERYWHERE;
  known.set(volume, reach);
  return reach;
}

/** The one that is the claim's or is kept for it; where there is none, all that are free and suit it, the smallest first. */
export function offersFor(claim: Claim, storage: Storage): readonly Volume[] {
  const { objects } = storage;
  const kept = objects.volumesFor(claimKey(claim)).find((volume) => isFor(volume, claim) && suits(volume, claim));
  const own = storage.promisedTo(claim) ?? kept;
  if (own) return [own];
  const free = objects.freeVolumes(classNameOf(claim)).filter((volume) => !storage.isPromised(volume));
  return choice(claim, free);
}

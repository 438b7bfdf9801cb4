/** Plans for one volume. */
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { PROVISIONED_BY } from '../../../kinds/volumes/binding.ts';
import { hasMode } from '../../../kinds/volumes/matching.ts';
import { event, type Plan } from '../../loop/plan.ts';
import { unbind } from './bind.ts';
import { inPhase } from './phase.ts';
import { reclaim } from './reclaim.ts';
import type { Claim, Volume, World } from './states.ts';

export function planVolume(volume: Volume | undefined, world: World): Plan {
  if (!volume) return [];
  const { claimRef } = volume.spec;
  // Reserved for a claim that is not bound to it: available.
  if (!claimRef?.uid) return inPhase(volume, 'Available');
  const claim = holderOf(volume, world);
  if (!claim) return left(volume, world);
  if (!claim.spec.volumeName) return awaited(volume, claim);
  if (claim.spec.volumeName === volume.metadata.name) return inPhase(volume, 'Bound');
  // Its claim has another volume.
  const isSpare = volume.metadata.annotations?.[PROVISIONED_BY] !== undefined;
  if (isSpare && volume.spec.persistentVolumeReclaimPolicy === 'Delete') return left(volume, world);
  return unbind(volume);
}

function holderOf({ spec: { claimRef } }: Volume, { of, observed }: World): Claim | undefined {
  const found = of(PersistentVolumeClaim).get(claimRef?.name ?? '', claimRef?.namespace);
  return [found, observed?.claim].find((claim) => claim !== undefined && claim.metadata.uid === claimRef?.uid);
}

function left(volume: Volume, world: World): Plan {
  const { phase } = volume.status;
  // A failure stays visible while it is retried.
  return phase === 'Released' || phase === 'Failed' ? reclaim(volume, world) : inPhase(volume, 'Released');
}

/** The claim does not refer to the volume yet. */
function awaited(volume: Volume, claim: Claim): Plan {
  if (hasMode(volume, claim)) return [];
  const why = 'due to incompatible volumeMode.';
  const { name } = volume.metadata;
  const ofVolume = `Cannot bind PersistentVolume to requested PersistentVolumeClaim "${claim.metadata.name}" ${why}`;
  const ofClaim = `Cannot bind PersistentVolume "${name}" to requested PersistentVolumeClaim ${why}`;
  return [event(volume, 'Warning', 'VolumeMismatch', ofVolume), event(claim, 'Warning', 'VolumeMismatch', ofClaim)];
}

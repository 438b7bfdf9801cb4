/** Reclaims a volume whose claim is gone, by its policy. */
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PROVISIONED_BY } from '../../../kinds/volumes/binding.ts';
import { type Plan, remove } from '../../loop/plan.ts';
import { failed } from './phase.ts';
import { planRecycling } from './recycle.ts';
import type { Volume, World } from './states.ts';

export function reclaim(volume: Volume, world: World): Plan {
  const { persistentVolumeReclaimPolicy: policy } = volume.spec;
  switch (policy) {
    case 'Retain':
      return [];
    case 'Delete':
      return planDeletion(volume);
    case 'Recycle':
      return planRecycling(volume, world);
    default:
      return failed(volume, 'VolumeUnknownReclaimPolicy', 'Volume has unrecognized PersistentVolumeReclaimPolicy');
  }
}

/**
 * Deletes a released volume. The provisioner deletes its own volumes; of manually created ones, only one type can be
 * deleted here.
 */
function planDeletion(volume: Volume): Plan {
  if (volume.metadata.deletionTimestamp) return [];
  const { name } = volume.metadata;
  const { csi, hostPath } = volume.spec;
  const maker = volume.metadata.annotations?.[PROVISIONED_BY];
  if (maker?.startsWith('kubernetes.io/')) {
    return failed(volume, 'VolumeFailedDelete', `no volume plugin matched name: ${maker}`);
  }
  if (maker || csi) return [];
  if (!hostPath) {
    const message = `error getting deleter volume plugin for volume "${name}": no deletable volume plugin matched`;
    return failed(volume, 'VolumeFailedDelete', message);
  }
  if (/\/tmp\/.+/.test(hostPath.path)) return [remove(PersistentVolume, volume)];
  const message = `host_path deleter only supports /tmp/.+ but received provided ${hostPath.path}`;
  return failed(volume, 'VolumeFailedDelete', message);
}

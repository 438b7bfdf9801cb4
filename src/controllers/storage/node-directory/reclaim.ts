/** Deletes volumes that are no longer needed. Their data is removed by their node. */
import type { DeepReadonly, Draft } from '../../../api/object-types.ts';
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PROVISIONED_BY } from '../../../kinds/volumes/binding.ts';
import { isToRemove, NODE_DIRECTORY, nodeDirectory, REMOVAL } from '../../../kinds/volumes/node-directory.ts';
import { event, type Plan, remove, update } from '../../loop/plan.ts';
import type { World } from './nodes.ts';

type Volume = DeepReadonly<PersistentVolume>;

export function planDirectory(volume: Volume | undefined, world: World): Plan {
  if (volume?.metadata.annotations?.[PROVISIONED_BY] !== NODE_DIRECTORY) return [];
  const { finalizers = [], deletionTimestamp } = volume.metadata;
  const isHeld = finalizers.includes(REMOVAL);
  const goesWithClaim = volume.spec.persistentVolumeReclaimPolicy === 'Delete';
  if (isHeld && !goesWithClaim) return [removeFinalizer(volume)];
  if (deletionTimestamp) return isToRemove(volume) ? releaseIfNodeIsGone(volume, world) : [];
  if (!isHeld && goesWithClaim) return [addFinalizer(volume)];
  return goesWithClaim && volume.status.phase === 'Released' ? [remove(PersistentVolume, volume)] : [];
}

/** The node removes the data and releases the volume, unless the node is gone. */
function releaseIfNodeIsGone(volume: Volume, world: World): Plan {
  const directory = nodeDirectory(volume);
  if (!directory) {
    const message = 'the node or path of the directory cannot be determined: its data is not removed';
    return [removeFinalizer(volume), event(volume, 'Warning', 'VolumeFailedDelete', message)];
  }
  return world.nodeNamed(directory.node) ? [] : [removeFinalizer(volume)];
}

function addFinalizer(volume: Volume) {
  return withFinalizers(volume, [...(volume.metadata.finalizers ?? []), REMOVAL]);
}

function removeFinalizer(volume: Volume) {
  return withFinalizers(volume, volume.metadata.finalizers?.filter((each) => each !== REMOVAL) ?? []);
}

function withFinalizers(volume: Volume, finalizers: readonly string[]) {
  const metadata = { ...volume.metadata, finalizers };
  return update(PersistentVolume, { ...volume, metadata } as Draft<PersistentVolume>);
}

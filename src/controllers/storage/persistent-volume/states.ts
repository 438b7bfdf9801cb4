/** The objects that this controller reads. */
import type { DeepReadonly } from '../../../api/object-types.ts';
import type { SeenPod } from '../../../api/seen-objects.ts';
import type { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import type { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { BIND_COMPLETED } from '../../../kinds/volumes/binding.ts';
import type { Listers } from '../../loop/define.ts';

export type Claim = DeepReadonly<PersistentVolumeClaim>;
export type Volume = DeepReadonly<PersistentVolume>;

/** The counterpart of a claim or volume, if the server has it and the cache does not. */
export interface Counterpart {
  readonly claim?: Claim | undefined;
  readonly volume?: Volume | undefined;
}

/** The state that plans are made from. */
export interface World extends Listers {
  readonly observed?: Counterpart | undefined;
}

/** Reports whether the claim has never been bound. */
export function isUnbound({ metadata }: Claim): boolean {
  return metadata.annotations?.[BIND_COMPLETED] === undefined;
}

/** Reports whether the pod has terminated, so that it uses no volumes. */
export function isDone({ status }: SeenPod): boolean {
  return status.phase === 'Succeeded' || status.phase === 'Failed';
}

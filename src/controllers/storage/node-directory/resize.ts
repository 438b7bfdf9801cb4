/** Resizes claims. A directory has no size limit, so that only the objects change. */
import type { DeepReadonly, Draft } from '../../../api/object-types.ts';
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { isMore, isToGrow } from '../../../kinds/volumes/growth.ts';
import { requestOf } from '../../../kinds/volumes/matching.ts';
import { nodeDirectory } from '../../../kinds/volumes/node-directory.ts';
import type { Listers } from '../../loop/define.ts';
import { event, type Plan, update, updateStatus } from '../../loop/plan.ts';
import { withConditions, withoutCondition } from '../../shared/conditions.ts';

type Claim = DeepReadonly<PersistentVolumeClaim>;

/** Resizes in two steps, as watchers expect: first in progress, then done. */
export function planResize(claim: Claim, { of }: Listers, now: Date): Plan {
  const volume = of(PersistentVolume).get(claim.spec.volumeName ?? '');
  if (!volume || !isToGrow(claim) || !nodeDirectory(volume)) return [];
  if (volume.spec.claimRef?.uid !== claim.metadata.uid) return [];
  const storage = requestOf(claim);
  if (!isBegun(claim, storage)) {
    const begun = `External resizer is resizing volume ${volume.metadata.name}`;
    return [writeStatus(claim, resizing(claim, now)), event(claim, 'Normal', 'Resizing', begun)];
  }
  const grown = { ...volume, spec: { ...volume.spec, capacity: { storage } } } as Draft<PersistentVolume>;
  return [
    ...(isMore(storage, volume.spec.capacity.storage ?? '0') ? [update(PersistentVolume, grown)] : []),
    writeStatus(claim, resized(claim)),
    event(claim, 'Normal', 'VolumeResizeSuccessful', 'Resize volume succeeded'),
  ];
}

function isBegun({ status }: Claim, storage: string): boolean {
  const { allocatedResources, allocatedResourceStatuses } = status;
  return allocatedResources?.storage === storage && allocatedResourceStatuses?.storage === IN_PROGRESS;
}

const IN_PROGRESS = 'ControllerResizeInProgress';

function resizing(claim: Claim, now: Date): Claim['status'] {
  const { status } = claim;
  return {
    ...status,
    allocatedResources: { ...status.allocatedResources, storage: requestOf(claim) },
    allocatedResourceStatuses: { ...status.allocatedResourceStatuses, storage: IN_PROGRESS },
    conditions: withConditions(status.conditions, [{ type: 'Resizing', status: 'True' }], now),
  };
}

function resized(claim: Claim): Claim['status'] {
  const { allocatedResourceStatuses, conditions, ...status } = claim.status;
  const { storage: _, ...others } = allocatedResourceStatuses ?? {};
  const left = withoutCondition(conditions, 'Resizing');
  return {
    ...status,
    capacity: { ...status.capacity, storage: requestOf(claim) },
    ...(Object.keys(others).length > 0 ? { allocatedResourceStatuses: others } : {}),
    ...(left.length > 0 ? { conditions: left } : {}),
  };
}

function writeStatus(claim: Claim, status: Claim['status']) {
  return updateStatus(PersistentVolumeClaim, { ...claim, status } as Draft<PersistentVolumeClaim>);
}

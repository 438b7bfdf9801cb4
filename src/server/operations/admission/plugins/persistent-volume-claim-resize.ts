import { compareQuantities, parseQuantity } from '../../../../base/quantity.ts';
import { PersistentVolumeClaim } from '../../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { StorageClass } from '../../../../kinds/groups/storage/storage-class.ts';
import { classNameOf } from '../../../../kinds/volumes/binding.ts';
import { rejected } from '../../../objects/admission/request.ts';
import type { Reader } from '../../../objects/ports.ts';
import { objectNamed } from '../../../objects/reads/lookup.ts';
import type { AdmissionPlugin } from '../plugin.ts';

type Ports = Pick<Reader, 'cache'>;

/** Allows a claim to grow only when it is bound and its StorageClass allows expansion. */
export const persistentVolumeClaimResize: AdmissionPlugin = {
  name: 'PersistentVolumeClaimResize',

  handles: (kind, operation, subresource) => kind === PersistentVolumeClaim && operation === 'UPDATE' && !subresource,

  validate(core, request) {
    const claim = request.object as PersistentVolumeClaim;
    const old = request.old as PersistentVolumeClaim;
    if (compareQuantities(sizeOf(claim), sizeOf(old)) <= 0) return;
    if (old.status.phase !== 'Bound') throw rejected(request, 'Only bound persistent volume claims can be expanded');
    if (mayGrow(core, claim, old)) return;
    throw rejected(
      request,
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    );
  },
};

const sizeOf = ({ spec }: PersistentVolumeClaim) => parseQuantity(spec.resources.requests?.storage ?? '0');

function mayGrow(core: Ports, claim: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean {
  const name = classNameOf(claim);
  if (!name || name !== classNameOf(old)) return false;
  return objectNamed(core, StorageClass, '', name)?.allowVolumeExpansion ?? false;
}

import { PersistentVolumeClaim } from '../../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { StorageClass } from '../../../../kinds/groups/storage/storage-class.ts';
import { classAskedFor } from '../../../../kinds/volumes/binding.ts';
import { defaultClass } from '../../../../kinds/volumes/default-class.ts';
import { derivedFrom } from '../../../objects/reads/lookup.ts';
import type { AdmissionPlugin } from '../plugin.ts';

const theDefault = derivedFrom(StorageClass, defaultClass);

/** Assigns the default StorageClass to a claim without a class. An empty name means no class. */
export const defaultStorageClass: AdmissionPlugin = {
  name: 'DefaultStorageClass',
  keepsDefaults: true,

  handles: (kind, operation, subresource) => kind === PersistentVolumeClaim && operation === 'CREATE' && !subresource,

  admit(core, { object }) {
    const claim = object as PersistentVolumeClaim;
    if (classAskedFor(claim) !== undefined) return;
    const name = theDefault(core);
    if (name !== undefined) claim.spec.storageClassName = name;
  },
};

import { PersistentVolume } from '../../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { VolumeAttributesClass } from '../../../../kinds/groups/storage/volume-attributes-class.ts';
import type { AdmissionPlugin } from '../plugin.ts';

const finalizers = new Map<unknown, string>([
  [PersistentVolumeClaim, 'kubernetes.io/pvc-protection'],
  [PersistentVolume, 'kubernetes.io/pv-protection'],
  [VolumeAttributesClass, 'kubernetes.io/vac-protection'],
]);

/** Adds the finalizers that protect volumes and claims in use. */
export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  keepsDefaults: true,

  handles: (kind, operation, subresource) => finalizers.has(kind) && operation === 'CREATE' && !subresource,

  admit(_, { kind, object }) {
    const finalizer = finalizers.get(kind);
    if (!object || !finalizer || object.metadata.finalizers?.includes(finalizer)) return;
    object.metadata.finalizers = [...(object.metadata.finalizers ?? []), finalizer];
  },

  forget({ metadata }) {
    const own = [...finalizers.values()];
    metadata.finalizers = metadata.finalizers?.filter((finalizer) => !own.includes(finalizer)) ?? [];
  },
};

import { PersistentVolumeClaim } from '../../kinds/core/persistent-volume-claim.ts';
import { StorageClass } from '../../kinds/storage/storage-class.ts';
import { defaultClass } from './default-class.ts';
import type { AdmissionPlugin } from './plugin.ts';

/** Where a claim could name its class before there was a field for it. */
export const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

const marks = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];
const theDefault = defaultClass(StorageClass, marks);

/** A claim that names no class gets the cluster's default one; an empty name asks for none. */
export const defaultStorageClass: AdmissionPlugin = {
  name: 'DefaultStorageClass',

  handles: (kind, operation, subresource) => kind === PersistentVolumeClaim && operation === 'CREATE' && !subresource,

  admit(core, { object }) {
    const { spec, metadata } = object as PersistentVolumeClaim;
    if (spec.storageClassName !== undefined || metadata.annotations?.[CLASS_ANNOTATION] !== undefined) return;
    const name = theDefault(core);
    if (name !== undefined) spec.storageClassName = name;
  },
};

/** The spec of a PersistentVolumeClaim. */
import { s } from '../../../schema/builders.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { VolumeResourceRequirements } from '../container/resources.ts';
import { LabelSelector } from '../meta/label-selector.ts';
import { TypedLocalObjectReference, TypedObjectReference } from '../meta/references.ts';

const spec = {
  accessModes: s.list(s.string(), {
    description:
      'Access modes that the volume must support: ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ' +
      'ReadWriteOncePod. Required. Cannot be changed.',
  }),
  selector: s.use(LabelSelector, { description: 'Labels of the volumes that may be bound.' }),
  resources: s.use(VolumeResourceRequirements, {
    default: {},
    description:
      'Requested size, as the request for storage. It can be increased later if the storage class allows it.',
  }),
  volumeName: s.string({
    omitZero: true,
    description:
      'Name of the bound PersistentVolume. If set on creation, only that volume is bound. Cannot be changed ' +
      'once set.',
  }),
  storageClassName: s.string({
    description:
      'StorageClass of the volume. If absent, the default class is used; an empty name asks for a volume ' +
      'without a class.',
  }),
  volumeMode: s.string({
    default: 'Filesystem',
    description:
      'Filesystem for a mounted file system, Block for a raw block device. Defaults to Filesystem. Cannot be ' +
      'changed.',
  }),
  dataSource: s.use(TypedLocalObjectReference, {
    description:
      'VolumeSnapshot or PersistentVolumeClaim in the same namespace whose content the new volume starts with. ' +
      'Kept equal to dataSourceRef where possible.',
  }),
  dataSourceRef: s.use(TypedObjectReference, {
    description: 'Object whose content the new volume starts with. Any kind that a volume populator supports.',
  }),
  volumeAttributesClassName: s.string({
    description: 'VolumeAttributesClass with the settings of the volume. It can be changed later to modify the volume.',
  }),
};
export type PersistentVolumeClaimSpec = ObjectType<typeof spec>;

export const PersistentVolumeClaimSpec = s.object('PersistentVolumeClaimSpec', spec, {
  description: 'Storage that a claim requests.',
});

/** The spec of a PersistentVolumeClaim. */
import { s } from '../../../schema/builders.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { VolumeResourceRequirements } from '../container/resources.ts';
import { LabelSelector } from '../meta/label-selector.ts';
import { TypedLocalObjectReference, TypedObjectReference } from '../meta/references.ts';

const spec = {
  accessModes: s.list(
    s.string(),
    'Access modes that the volume must support: ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ' +
      'ReadWriteOncePod. Required. Cannot be changed.',
  ),
  selector: s.use(LabelSelector, 'Labels of the volumes that may be bound.'),
  resources: s.use(
    VolumeResourceRequirements,
    'Requested size, as the request for storage. It can be increased later if the storage class allows it.',
    { default: {} },
  ),
  volumeName: s.string(
    'Name of the bound PersistentVolume. If set on creation, only that volume is bound. Cannot be changed ' +
      'once set.',
    { omitZero: true },
  ),
  storageClassName: s.string(
    'StorageClass of the volume. If absent, the default class is used; an empty name asks for a volume ' +
      'without a class.',
  ),
  volumeMode: s.string(
    'Filesystem for a mounted file system, Block for a raw block device. Defaults to Filesystem. Cannot be ' +
      'changed.',
    { default: 'Filesystem' },
  ),
  dataSource: s.use(
    TypedLocalObjectReference,
    'VolumeSnapshot or PersistentVolumeClaim in the same namespace whose content the new volume starts with. ' +
      'Kept equal to dataSourceRef where possible.',
  ),
  dataSourceRef: s.use(
    TypedObjectReference,
    'Object whose content the new volume starts with. Any kind that a volume populator supports.',
  ),
  volumeAttributesClassName: s.string(
    'VolumeAttributesClass with the settings of the volume. It can be changed later to modify the volume.',
  ),
};
export type PersistentVolumeClaimSpec = ObjectType<typeof spec>;

export const PersistentVolumeClaimSpec = s.object('PersistentVolumeClaimSpec', 'Storage that a claim requests.', spec);

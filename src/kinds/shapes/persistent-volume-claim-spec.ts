/** What a claim for storage asks for; a pod's ephemeral volume carries one, and so does the claim itself. */
import { s } from '../../schema/builders.ts';
import type { TypeOf } from '../../schema/schema.ts';
import { LabelSelector } from './label-selector.ts';
import { ObjectMeta } from './object-meta.ts';
import { TypedLocalObjectReference, TypedObjectReference } from './references.ts';
import { VolumeResourceRequirements } from './resources.ts';

export const PersistentVolumeClaimSpec = s.object('PersistentVolumeClaimSpec', {
  accessModes: s.list(s.string()),
  selector: LabelSelector,
  resources: s.use(VolumeResourceRequirements, { default: {} }),
  volumeName: s.string(),
  storageClassName: s.string(),
  volumeMode: s.string({ default: 'Filesystem' }),
  dataSource: TypedLocalObjectReference,
  dataSourceRef: TypedObjectReference,
  volumeAttributesClassName: s.string(),
});
export type PersistentVolumeClaimSpec = TypeOf<typeof PersistentVolumeClaimSpec>;

export const PersistentVolumeClaimTemplate = s.object('PersistentVolumeClaimTemplate', {
  metadata: ObjectMeta,
  spec: s.use(PersistentVolumeClaimSpec, { zero: true }),
});

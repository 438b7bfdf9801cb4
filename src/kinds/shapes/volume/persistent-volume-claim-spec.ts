/** What a claim for storage asks for; a pod's ephemeral volume carries one, and so does the claim itself. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden } from '../../../schema/field-error.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { VolumeResourceRequirements } from '../container/resources.ts';
import { LabelSelector } from '../meta/label-selector.ts';
import { ObjectMeta } from '../meta/object-meta.ts';
import { TypedLocalObjectReference, TypedObjectReference } from '../meta/references.ts';
import { claimSpec } from './claim-rules.ts';

const spec = {
  accessModes: s.list(s.string(), { description: 'How the storage is to be shared, such as ReadWriteOnce.' }),
  selector: s.use(LabelSelector, { description: 'Which volumes may be taken.' }),
  resources: s.use(VolumeResourceRequirements, {
    default: {},
    description: 'How much is asked for, as the request for `storage`.',
  }),
  volumeName: s.string({ omitZero: true, description: 'The volume that was found.' }),
  storageClassName: s.string({ description: 'The class it is to come from; the empty name asks for none.' }),
  volumeMode: s.string({ default: 'Filesystem', description: 'Filesystem, or Block for a raw device.' }),
  dataSource: TypedLocalObjectReference,
  dataSourceRef: TypedObjectReference,
  volumeAttributesClassName: s.string(),
};
export type PersistentVolumeClaimSpec = ObjectType<typeof spec>;

export const PersistentVolumeClaimSpec = s.object('PersistentVolumeClaimSpec', spec);

/** The claims that are made for pods, each named `<pod>-<volume>`. */
export const PersistentVolumeClaimTemplate = s.object('PersistentVolumeClaimTemplate', {
  metadata: s.use(ObjectMeta, { rules: [onlyLabelsAndAnnotations] }),
  spec: s.use(PersistentVolumeClaimSpec, { zero: true, rules: [claimSpec] }),
});

function onlyLabelsAndAnnotations(metadata: ObjectMeta): FieldError[] {
  return Object.keys(metadata)
    .filter((field) => field !== 'labels' && field !== 'annotations')
    .map((field) => forbidden(field, 'cannot be set'));
}

import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden } from '../../../schema/field-error.ts';
import { ObjectMeta } from '../meta/object-meta.ts';
import { claimSpec } from './claim-rules.ts';
import { PersistentVolumeClaimSpec } from './persistent-volume-claim-spec.ts';

/** Template of the claims that are created for pods, each named `<pod>-<volume>`. */
export const PersistentVolumeClaimTemplate = s.object(
  'PersistentVolumeClaimTemplate',
  'Template of the claim of an ephemeral volume.',
  {
    metadata: s.use(ObjectMeta, 'Labels and annotations of the claim. Other fields are not allowed.', {
      rules: [onlyLabelsAndAnnotations],
    }),
    spec: s.use(PersistentVolumeClaimSpec, { zero: true, rules: [claimSpec] }),
  },
);

function onlyLabelsAndAnnotations(metadata: ObjectMeta): FieldError[] {
  return Object.keys(metadata)
    .filter((field) => field !== 'labels' && field !== 'annotations')
    .map((field) => forbidden(field, 'cannot be set'));
}

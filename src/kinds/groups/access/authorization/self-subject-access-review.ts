import { s } from '../../../../schema/builders.ts';
import { defineKind, type ObjectOf } from '../../../kind.ts';
import { emptyMetadata, SubjectAccessReviewStatus } from './access-review.ts';
import { attributes, oneOfAttributes, selectorsAreValid } from './attributes.ts';

/** Asks whether the caller may perform an action. It is answered at once and never stored. */
export const SelfSubjectAccessReview = defineKind({
  kind: 'SelfSubjectAccessReview',
  scope: 'Cluster',
  description:
    'Asks whether the caller may perform an action, as `kubectl auth can-i` does. Every authenticated user may ask. The answer is in status; nothing is stored.',
  versions: { 'authorization.k8s.io/v1': {} },
  verbs: ['create'],
  fields: {
    spec: s.object(
      'SelfSubjectAccessReviewSpec',
      'The action to check. Exactly one of resourceAttributes and nonResourceAttributes must be set.',
      attributes,
      { zero: true, rules: [oneOfAttributes, selectorsAreValid] },
    ),
    status: SubjectAccessReviewStatus,
  },
  rules: [emptyMetadata('must be empty')],
});
export type SelfSubjectAccessReview = ObjectOf<typeof SelfSubjectAccessReview>;

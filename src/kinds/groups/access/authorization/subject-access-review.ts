import { defineKind, type ObjectOf } from '../../../kind.ts';
import { emptyMetadata, SubjectAccessReviewSpec, SubjectAccessReviewStatus } from './access-review.ts';

/** Asks whether a subject may perform an action. It is answered at once and never stored. */
export const SubjectAccessReview = defineKind({
  kind: 'SubjectAccessReview',
  scope: 'Cluster',
  description:
    'Asks whether a user or group may perform an action, in any namespace or cluster-wide. The answer is in status; nothing is stored.',
  versions: { 'authorization.k8s.io/v1': {} },
  verbs: ['create'],
  fields: { spec: SubjectAccessReviewSpec, status: SubjectAccessReviewStatus },
  rules: [emptyMetadata('must be empty')],
});
export type SubjectAccessReview = ObjectOf<typeof SubjectAccessReview>;

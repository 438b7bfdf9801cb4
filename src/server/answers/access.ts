/** Questions about rights. Who is authenticated may do everything: there is no authorizer that could say otherwise. */
import { badRequest } from '../../base/errors.ts';
import { LocalSubjectAccessReview } from '../../kinds/authorization/local-subject-access-review.ts';
import { SelfSubjectAccessReview } from '../../kinds/authorization/self-subject-access-review.ts';
import { SelfSubjectRulesReview } from '../../kinds/authorization/self-subject-rules-review.ts';
import { SubjectAccessReview } from '../../kinds/authorization/subject-access-review.ts';
import type { Answer } from './answer.ts';

const allowed = (review: any) => {
  review.status = { allowed: true };
};

export const accessReviews: readonly Answer[] = [
  { kind: SubjectAccessReview, create: allowed },
  { kind: SelfSubjectAccessReview, create: allowed },
  { kind: LocalSubjectAccessReview, create: allowed },
  {
    kind: SelfSubjectRulesReview,
    create(review) {
      if (!review.spec.namespace) throw badRequest('no namespace on request');
      review.status = {
        resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
        nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
        incomplete: false,
      };
    },
  },
];

import { s } from '../../../schema/builders.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { UserInfo } from './user-info.ts';

/** Asks who one is oneself. It is answered at once, and never stored. */
export const SelfSubjectReview = defineKind({
  group: 'authentication.k8s.io',
  kind: 'SelfSubjectReview',
  plural: 'selfsubjectreviews',
  scope: 'Cluster',
  description: 'Asks who the server takes the caller for.',
  versions: { 'authentication.k8s.io/v1': {} },
  verbs: ['create'],
  fields: {
    status: s.object(
      'SelfSubjectReviewStatus',
      { userInfo: s.use(UserInfo, { default: {}, description: 'Who the caller is.' }) },
      { default: {}, description: 'The answer.' },
    ),
  },
});
export type SelfSubjectReview = ObjectOf<typeof SelfSubjectReview>;

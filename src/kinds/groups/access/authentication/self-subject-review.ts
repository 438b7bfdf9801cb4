import { s } from '../../../../schema/builders.ts';
import { defineKind, type ObjectOf } from '../../../kind.ts';
import { UserInfo } from './user-info.ts';

/** Asks who the caller is. It is answered at once and never stored. */
export const SelfSubjectReview = defineKind({
  kind: 'SelfSubjectReview',
  scope: 'Cluster',
  description: 'Asks the server who the caller is authenticated as. The answer is in status; nothing is stored.',
  versions: { 'authentication.k8s.io/v1': {} },
  verbs: ['create'],
  fields: {
    status: s.struct('SelfSubjectReviewStatus', 'The answer, filled in by the server.', {
      userInfo: s.use(UserInfo, 'User name, groups and other attributes of the caller.', { default: {} }),
    }),
  },
});
export type SelfSubjectReview = ObjectOf<typeof SelfSubjectReview>;

import type { FieldNumbers } from './field-numbers.ts';

export const authentication: FieldNumbers = {
  'authentication.k8s.io/v1': {
    SelfSubjectReview: 'metadata status',
    SelfSubjectReviewStatus: 'userInfo',
    TokenReview: 'metadata spec status',
    TokenReviewSpec: 'token audiences',
    TokenReviewStatus: 'authenticated user error audiences',
    UserInfo: 'username uid groups extra',
  },
};

import type { FieldNumbers } from './field-numbers.ts';

export const authentication: FieldNumbers = {
  'authentication.k8s.io/v1': {
    BoundObjectReference: 'kind apiVersion name uid',
    SelfSubjectReview: 'metadata status',
    SelfSubjectReviewStatus: 'userInfo',
    TokenRequest: 'metadata spec status',
    TokenRequestSpec: 'audiences 3:boundObjectRef expirationSeconds?',
    TokenRequestStatus: 'token expirationTimestamp',
    TokenReview: 'metadata spec status',
    TokenReviewSpec: 'token audiences',
    TokenReviewStatus: 'authenticated user error audiences',
    UserInfo: 'username uid groups extra',
  },
};

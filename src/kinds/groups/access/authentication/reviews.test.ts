import { expect, test } from 'vitest';
import { create } from '../../../../../test/support/kinds/test-object.ts';
import type { Kind } from '../../../kind.ts';
import { SelfSubjectReview } from './self-subject-review.ts';
import { TokenRequest } from './token-request.ts';
import { TokenReview } from './token-review.ts';

test('reviews can only be created; a TokenRequest is a subresource body', () => {
  expect(TokenReview.verbs).toEqual(['create']);
  expect(SelfSubjectReview.verbs).toEqual(['create']);
  expect(TokenRequest.verbs).toEqual([]);
});

test('a TokenReview starts with an empty status', () => {
  const { object, errors } = create(TokenReview as Kind<any>, { spec: { token: 't', audiences: ['a'] } });
  expect(errors).toEqual([]);
  expect(object).toEqual({ metadata: {}, spec: { token: 't', audiences: ['a'] }, status: { user: {} } });
});

test('UserInfo has groups, uid and extra fields', () => {
  const userInfo = { username: 'u', uid: '1', groups: ['g'], extra: { scopes: ['a', 'b'], none: [] } };
  const { object } = create(SelfSubjectReview as Kind<any>, { status: { userInfo } });
  expect(object.status).toEqual({ userInfo });
});

test.each<[object, number, string[]]>([
  [{}, 3600, []],
  [{ expirationSeconds: 600 }, 600, []],
  [
    { expirationSeconds: 599 },
    599,
    ['spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes'],
  ],
  [
    { expirationSeconds: 2 ** 32 + 1 },
    2 ** 32 + 1,
    ['spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds'],
  ],
])('a token is asked for with %j', (spec, seconds, errors) => {
  const outcome = create(TokenRequest as Kind<any>, { spec });
  expect(outcome.object.spec.expirationSeconds).toBe(seconds);
  expect(outcome.errors).toEqual(errors);
});

/** Reviews of identities, answered by the server's authenticators. */

import { badRequest } from '../../../api/errors.ts';
import type { User } from '../../../api/user.ts';
import { SelfSubjectReview } from '../../../kinds/groups/access/authentication/self-subject-review.ts';
import { TokenReview } from '../../../kinds/groups/access/authentication/token-review.ts';
import { review } from './review.ts';

export const selfSubjectReview = review(SelfSubjectReview, (object, _core, { user }) => {
  object.status = { userInfo: userInfo(user) };
});

export const tokenReview = review(TokenReview, async (object, core) => {
  const { token, audiences = [] } = object.spec;
  if (!token) throw badRequest('token is required for TokenReview in authentication');
  const found = await core.identify(token, audiences);
  object.status = found
    ? { authenticated: true, user: userInfo(found.user), audiences: [...found.audiences] }
    : { user: {}, error: 'invalid bearer token' };
});

function userInfo({ name, uid, groups, extra }: User) {
  return { username: name, uid: uid || undefined, groups: [...groups], extra: extra ? copyOf(extra) : undefined };
}

function copyOf(extra: NonNullable<User['extra']>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]));
}

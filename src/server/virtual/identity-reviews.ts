import { badRequest } from '../../base/errors.ts';
import { SelfSubjectReview } from '../../kinds/groups/authentication/self-subject-review.ts';
import { TokenReview } from '../../kinds/groups/authentication/token-review.ts';
import type { User } from '../api.ts';
import type { VirtualResource } from './virtual-resource.ts';

export const selfSubjectReview: VirtualResource = {
  kind: SelfSubjectReview,
  create(review, _core, { user }) {
    review.status = { userInfo: userInfo(user) };
  },
};

export const tokenReview: VirtualResource = {
  kind: TokenReview,
  async create(review, core) {
    if (!review.spec.token) throw badRequest('token is required for TokenReview in authentication');
    const found = await core.identify(review.spec.token, review.spec.audiences ?? []);
    review.status = found
      ? { authenticated: true, user: userInfo(found.user), audiences: [...found.audiences] }
      : { user: {}, error: 'invalid bearer token' };
  },
};

function userInfo({ name, uid, groups, extra }: User): object {
  return { username: name, ...(uid ? { uid } : {}), groups: [...groups], ...(extra ? { extra: { ...extra } } : {}) };
}

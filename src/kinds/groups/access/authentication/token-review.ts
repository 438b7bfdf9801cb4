import { s } from '../../../../schema/builders.ts';
import { defineKind, type ObjectOf } from '../../../kind.ts';
import { UserInfo } from './user-info.ts';

const audiences = (description: string) => s.list(s.string(), description);

/** Asks whose token this is. It is answered at once and never stored. */
export const TokenReview = defineKind({
  kind: 'TokenReview',
  scope: 'Cluster',
  description:
    'Asks the server whether a bearer token is valid and whose it is, so that other services can authenticate their clients against the cluster. The answer is in status; nothing is stored.',
  versions: { 'authentication.k8s.io/v1': {} },
  verbs: ['create'],
  confidential: true,
  fields: {
    spec: s.object(
      'TokenReviewSpec',
      'The token to check.',
      {
        token: s.string('The bearer token to check.', { zero: true }),
        audiences: audiences(
          'Audiences to check the token for, normally those of the service that received it. The token must be meant for at least one of them. Defaults to the API server.',
        ),
      },
      { zero: true },
    ),
    status: s.struct('TokenReviewStatus', 'The answer, filled in by the server.', {
      authenticated: s.boolean('Whether the token is valid and belongs to a known user.', { omitZero: true }),
      user: s.use(UserInfo, 'The user the token belongs to. Set only when authenticated is true.', { default: {} }),
      audiences: audiences(
        'Those of the requested audiences that the token is valid for. If the list is empty, the token is valid for the API server.',
      ),
      error: s.string('Why the token could not be checked.', { omitZero: true }),
    }),
  },
});
export type TokenReview = ObjectOf<typeof TokenReview>;

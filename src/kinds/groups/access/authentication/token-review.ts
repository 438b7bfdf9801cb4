import { s } from '../../../../schema/builders.ts';
import { defineKind, type ObjectOf } from '../../../kind.ts';
import { UserInfo } from './user-info.ts';

const audiences = (description: string) => s.list(s.string(), { description });

/** Asks whose token this is. It is answered at once and never stored. */
export const TokenReview = defineKind({
  group: 'authentication.k8s.io',
  kind: 'TokenReview',
  plural: 'tokenreviews',
  scope: 'Cluster',
  description:
    'Asks the server whether a bearer token is valid and whose it is, so that other services can authenticate their clients against the cluster. The answer is in status; nothing is stored.',
  versions: { 'authentication.k8s.io/v1': {} },
  verbs: ['create'],
  confidential: true,
  fields: {
    spec: s.object(
      'TokenReviewSpec',
      {
        token: s.string({ zero: true, description: 'The bearer token to check.' }),
        audiences: audiences(
          'Audiences to check the token for, normally those of the service that received it. The token must be meant for at least one of them. Defaults to the API server.',
        ),
      },
      { zero: true, description: 'The token to check.' },
    ),
    status: s.object(
      'TokenReviewStatus',
      {
        authenticated: s.boolean({
          omitZero: true,
          description: 'Whether the token is valid and belongs to a known user.',
        }),
        user: s.use(UserInfo, {
          default: {},
          description: 'The user the token belongs to. Set only when authenticated is true.',
        }),
        audiences: audiences(
          'Those of the requested audiences that the token is valid for. If the list is empty, the token is valid for the API server.',
        ),
        error: s.string({ omitZero: true, description: 'Why the token could not be checked.' }),
      },
      { default: {}, description: 'The answer, filled in by the server.' },
    ),
  },
});
export type TokenReview = ObjectOf<typeof TokenReview>;

import { s } from '../../../schema/builders.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { UserInfo } from './user-info.ts';

const audiences = (description: string) => s.list(s.string(), { description });

/** Asks whose token something is. It is answered at once, and never stored. */
export const TokenReview = defineKind({
  group: 'authentication.k8s.io',
  kind: 'TokenReview',
  plural: 'tokenreviews',
  scope: 'Cluster',
  description: 'Asks whether a token is good, and whose it is.',
  versions: { 'authentication.k8s.io/v1': {} },
  verbs: ['create'],
  fields: {
    spec: s.object(
      'TokenReviewSpec',
      {
        token: s.string({ zero: true, description: 'The token.' }),
        audiences: audiences('For whom the token has to be meant; where absent, for the API server.'),
      },
      { zero: true, description: 'What is asked.' },
    ),
    status: s.object(
      'TokenReviewStatus',
      {
        authenticated: s.boolean({ omitZero: true, description: 'Whether the token is good.' }),
        user: s.use(UserInfo, { default: {}, description: 'Whose it is.' }),
        audiences: audiences('For whom it is meant, of those that were asked for.'),
        error: s.string({ omitZero: true, description: 'Why it could not be checked.' }),
      },
      { default: {}, description: 'The answer.' },
    ),
  },
});
export type TokenReview = ObjectOf<typeof TokenReview>;

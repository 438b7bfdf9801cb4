import { s } from '../../../schema/builders.ts';
import { invalid } from '../../../schema/field-error.ts';
import type { Rule } from '../../../schema/schema.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';

const SHORTEST = 10 * 60;
const LONGEST = 2 ** 32;

const lifetime: Rule<number> = (seconds) => {
  if (seconds < SHORTEST) return invalid('', seconds, 'may not specify a duration less than 10 minutes');
  return seconds > LONGEST ? invalid('', seconds, 'may not specify a duration larger than 2^32 seconds') : undefined;
};

/** The body of a service account's `token`: asks for a token of its own. It is never stored. */
export const TokenRequest = defineKind({
  group: 'authentication.k8s.io',
  kind: 'TokenRequest',
  plural: 'tokenrequests',
  scope: 'Namespaced',
  description: 'Asks for a token with which to act as a service account, for a while.',
  versions: { 'authentication.k8s.io/v1': {} },
  verbs: [],
  fields: {
    spec: s.object(
      'TokenRequestSpec',
      {
        audiences: s.list(s.string(), {
          description: 'For whom the token is meant; where absent, for the API server.',
        }),
        expirationSeconds: s.int64({
          default: 3600,
          rules: [lifetime],
          description: 'How long it is to be good; the server may choose another time.',
        }),
        boundObjectRef: s.object(
          'BoundObjectReference',
          {
            kind: s.string({ omitZero: true, description: 'Pod, Secret or Node.' }),
            apiVersion: s.string({ omitZero: true }),
            name: s.string({ omitZero: true }),
            uid: s.string({ omitZero: true }),
          },
          { description: 'The token is good only as long as this object is there.' },
        ),
      },
      { default: {}, description: 'What is asked.' },
    ),
    status: s.object(
      'TokenRequestStatus',
      {
        token: s.string({ default: '', description: 'The token.' }),
        expirationTimestamp: s.time({ description: 'Until when it is good.' }),
      },
      { default: {}, description: 'The answer.' },
    ),
  },
});
export type TokenRequest = ObjectOf<typeof TokenRequest>;

import { s } from '../../../../schema/builders.ts';
import { invalid } from '../../../../schema/field-error.ts';
import type { Rule } from '../../../../schema/schema.ts';
import { defineKind, type ObjectOf } from '../../../kind.ts';

const MIN_LIFETIME_SECONDS = 10 * 60;
const MAX_LIFETIME_SECONDS = 2 ** 32;

const lifetime: Rule<number> = (seconds) => {
  if (seconds < MIN_LIFETIME_SECONDS) return invalid('', seconds, 'may not specify a duration less than 10 minutes');
  return seconds > MAX_LIFETIME_SECONDS
    ? invalid('', seconds, 'may not specify a duration larger than 2^32 seconds')
    : undefined;
};

/** The body of a service account's `token` subresource. It is never stored. */
export const TokenRequest = defineKind({
  kind: 'TokenRequest',
  scope: 'Namespaced',
  description:
    'Requests a token for a service account, as the body of its `token` subresource. The answer is in status; nothing is stored.',
  versions: { 'authentication.k8s.io/v1': {} },
  verbs: [],
  fields: {
    spec: s.struct('TokenRequestSpec', 'The token that is requested.', {
      audiences: s.list(
        s.string(),
        'Intended recipients of the token: a recipient must reject a token that does not name it. Defaults to the API server.',
      ),
      expirationSeconds: s.int64(
        'Requested lifetime of the token in seconds, from 600 to 2^32. Defaults to 3600. The server may issue a token with another lifetime, see status.expirationTimestamp.',
        { default: 3600, rules: [lifetime] },
      ),
      boundObjectRef: s.object(
        'BoundObjectReference',
        'Binds the token to an object of the same namespace, or to a Node: it becomes invalid when the object is deleted.',
        {
          kind: s.string('Kind of the object: Pod, Secret or Node.', { omitZero: true }),
          apiVersion: s.string('API version of the object: v1.', { omitZero: true }),
          name: s.string('Name of the object.', { omitZero: true }),
          uid: s.string('UID of the object. If it is given, it must be that of the existing object.', {
            omitZero: true,
          }),
        },
      ),
    }),
    status: s.struct('TokenRequestStatus', 'The issued token, filled in by the server.', {
      token: s.string('The token, to be sent as a bearer token.', { default: '' }),
      expirationTimestamp: s.time('When the token expires.'),
    }),
  },
});
export type TokenRequest = ObjectOf<typeof TokenRequest>;

import { s } from '../../../../schema/builders.ts';

/** The identity of an authenticated user. */
export const UserInfo = s.object('UserInfo', 'Identity of an authenticated user.', {
  username: s.string('Name that identifies the user among all active users.', { omitZero: true }),
  uid: s.string(
    'Identifier that stays unique over time: it tells the user apart from a former user of the same name.',
    { omitZero: true },
  ),
  groups: s.list(s.string(), 'Names of the groups the user belongs to.'),
  extra: s.map(s.list(s.string()), 'Further attributes that the authenticator supplied, as lists of strings by key.'),
});

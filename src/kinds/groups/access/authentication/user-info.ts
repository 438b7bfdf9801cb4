import { s } from '../../../../schema/builders.ts';

/** The identity of an authenticated user. */
export const UserInfo = s.object(
  'UserInfo',
  {
    username: s.string({ omitZero: true, description: 'Name that identifies the user among all active users.' }),
    uid: s.string({
      omitZero: true,
      description:
        'Identifier that stays unique over time: it tells the user apart from a former user of the same name.',
    }),
    groups: s.list(s.string(), { description: 'Names of the groups the user belongs to.' }),
    extra: s.map(s.list(s.string()), {
      description: 'Further attributes that the authenticator supplied, as lists of strings by key.',
    }),
  },
  { description: 'Identity of an authenticated user.' },
);

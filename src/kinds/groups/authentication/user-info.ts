import { s } from '../../../schema/builders.ts';

/** Who somebody is, as far as that is known. */
export const UserInfo = s.object('UserInfo', {
  username: s.string({ omitZero: true, description: 'What the user is called; unique among all active users.' }),
  uid: s.string({ omitZero: true, description: 'Tells the user from another who had the name before.' }),
  groups: s.list(s.string(), { description: 'Which groups the user is in.' }),
  extra: s.map(s.list(s.string()), { description: 'What else whoever authenticated the user has said.' }),
});

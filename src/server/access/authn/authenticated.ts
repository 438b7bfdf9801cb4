import type { User } from '../../../api/user.ts';

/** Adds the group that every authenticated user is in. */
export function authenticated(user: User): User {
  return Object.freeze({ ...user, groups: Object.freeze([...user.groups, 'system:authenticated']) });
}

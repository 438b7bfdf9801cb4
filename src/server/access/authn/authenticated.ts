import type { User } from '../../../api/user.ts';

/** Adds the group of all authenticated users. */
export function authenticated(user: User): User {
  return Object.freeze({ ...user, groups: Object.freeze([...user.groups, 'system:authenticated']) });
}

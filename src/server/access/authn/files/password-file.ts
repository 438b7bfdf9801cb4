import { createHash, timingSafeEqual } from 'node:crypto';
import type { User } from '../../../../api/user.ts';
import { authenticated } from '../authenticated.ts';
import type { PasswordSource } from '../authenticator.ts';
import { parseUsers } from './csv.ts';

/** Static passwords from a file with lines of the form `password,user,uid,"group1,group2"`. */
export function passwordFile(text: string): PasswordSource {
  const users = new Map<string, { digest: Buffer; user: User }>();
  for (const { secret, name, uid, groups } of parseUsers(text, 'password')) {
    users.set(name, { digest: digestOf(secret), user: authenticated({ name, uid, groups }) });
  }
  return {
    userOf(name, password) {
      const known = users.get(name);
      return known && timingSafeEqual(known.digest, digestOf(password)) ? known.user : undefined;
    },
  };
}

/** Hashes a password. Digests have a fixed length, so comparing them takes the same time for every guess. */
function digestOf(password: string): Buffer {
  return createHash('sha256').update(password).digest();
}

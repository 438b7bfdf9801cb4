import { createHash } from 'node:crypto';

/** Returns a short name for a part of a table, derived from its subject. */
export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

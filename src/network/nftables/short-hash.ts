import { createHash } from 'node:crypto';

/** A name for something in a table, by what it is about. */
export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

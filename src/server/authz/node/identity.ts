import type { User } from '../../api.ts';

const PREFIX = 'system:node:';

/** The node that a user is; undefined for who is none. A node without a name is an empty one. */
export function nodeOf({ name, groups }: User): string | undefined {
  if (!name.startsWith(PREFIX) || !groups.includes('system:nodes')) return undefined;
  return name.slice(PREFIX.length);
}

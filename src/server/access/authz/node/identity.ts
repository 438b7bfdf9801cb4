import type { User } from '../../../../api/user.ts';

const NODE_USER_PREFIX = 'system:node:';

/** Returns the name of the node that a user represents, possibly empty; undefined for other users. */
export function nodeOf({ name, groups }: User): string | undefined {
  if (!name.startsWith(NODE_USER_PREFIX) || !groups.includes('system:nodes')) return undefined;
  return name.slice(NODE_USER_PREFIX.length);
}

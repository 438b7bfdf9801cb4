import { tableName } from '../cache/keys.ts';
import type { Reader } from '../ports.ts';

/**
 * Describes objects in a namespace of kinds that this server does not serve, such as those that a later release has stored.
 * Empty when there are none.
 */
export function unknownContent({ cache, registry }: Pick<Reader, 'cache' | 'registry'>, namespace: string): string[] {
  const known = new Set([...registry.kinds].map(tableName));
  return [...cache.contentOf(namespace)]
    .filter(([table]) => !known.has(table))
    .map(([table, count]) => {
      const [group = '', plural = ''] = table.split('/');
      return `${plural}.${group} has ${count} resource instances, of a kind that this server does not know`;
    })
    .sort();
}

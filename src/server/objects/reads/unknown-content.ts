import { tableName } from '../cache/keys.ts';
import type { Reader } from '../ports.ts';

/** Describes objects in a namespace of kinds not served here, such as those of a later release; else empty. */
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
